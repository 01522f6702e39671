/** The descriptors of a sandboxed process, in addition to standard input, output and error. */
export const MESSAGE_SOCKET = 3
/** Where the engine sends the frame rings, as open files. */
export const DESCRIPTOR_SOCKET = 4
/** Messages of debuggers, for the processes to which they can connect. */
export const INSPECTOR_SOCKET = 5
