import { createRequire } from 'node:module'
import { resolve } from 'node:path'

/** The functions of the addon. Sockets and files are descriptors, which are numbers. */
interface Descriptors {
  /** Returns undefined if the process has too many open files. */
  createPair(): [own: number, other: number] | undefined
  send(socket: number, file: number): boolean
  /** Returns a negative number if no file was sent. */
  receive(socket: number): number
}

/** Path of the addon. A process that sends or receives descriptors must be permitted to read it. */
export const DESCRIPTORS_ADDON = resolve(import.meta.dirname, 'build/descriptors.node')

let addon: Descriptors | undefined

/** Loads the addon. Throws an `Error` if it is not built. */
export function loadDescriptors(): Descriptors {
  try {
    addon ??= createRequire(import.meta.url)(DESCRIPTORS_ADDON) as Descriptors
    return addon
  } catch (error) {
    throw new Error(`${(error as Error).message}: "make setup" builds the addon`)
  }
}

/**
 * Returns two connected sockets, one for this process and one that a child process inherits.
 * Both must be closed.
 */
export function createDescriptorSockets(): [own: number, other: number] {
  const pair = loadDescriptors().createPair()
  if (!pair) throw new Error('the process has too many open files')
  return pair
}

/**
 * Sends an open file through a socket. The receiver may use it as this process has opened it.
 * Returns whether it was sent.
 */
export const sendDescriptor = (socket: number, file: number): boolean =>
  loadDescriptors().send(socket, file)

/** Returns the next file that was sent through a socket. Undefined if there is none. */
export function receiveDescriptor(socket: number): number | undefined {
  const descriptor = loadDescriptors().receive(socket)
  return descriptor < 0 ? undefined : descriptor
}
