"""The memory protocols of agent frameworks, on a `Memory`: a file each, loaded only when it is imported.

What a framework hands over comes back exactly as it was given; what it deletes is deleted softly in the record; its
searches are Recollect's.
"""
