
Â>hello