"""The native format: model, schemas, codec, validation, and the table of problem codes. Imports nothing of ours."""
