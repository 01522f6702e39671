"""
The process in which the engine runs an element of an uploaded plugin. Elements do not use these
modules.
"""
