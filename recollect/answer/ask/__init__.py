"""Ask: answer a question from the conversations, with the messages that prove it [0]."""

#: What is told where nothing is asked, filters alone or nothing at all, and how to ask.
NO_QUESTION = ("There is no question.", 'Ask one: recollect ask "why did I choose Next.js?"')
