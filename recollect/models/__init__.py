"""Models: text to vectors (`embedding`), re-rankers (`rerank`), language models (`language`)."""
