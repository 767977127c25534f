"""What sources share: compression, framing, ids, times, protobuf and JSON decoding."""
