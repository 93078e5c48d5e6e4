"""Facts from conversations: claims, how claims of one thing become facts with a validity, and what a person corrects."""
