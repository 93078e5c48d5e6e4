"""Facts from conversations: claims, how claims become facts with a validity, and what a person corrects."""
