"""Lists of messages, as programs and data sets write them."""
