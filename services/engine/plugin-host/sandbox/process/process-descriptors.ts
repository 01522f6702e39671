/** The descriptors of a sandboxed process, in addition to standard input, output and error. */
export const MESSAGE_SOCKET = 3
/** Where the engine sends the frame rings, as open files. */
export const DESCRIPTOR_SOCKET = 4
