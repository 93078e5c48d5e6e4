"""What is done with words before they are stored or sought."""
