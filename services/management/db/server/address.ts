import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

const socketName = '.s.PGSQL.5432'

/** An address of a socket has room for so many bytes. */
const mostBytes = 107

/** The path by which a socket in the folder is reached, however long the folder's own is. */
export async function socketAddress(folder: string): Promise<{ path: string; close(): Promise<void> }> {
  const path = `${folder}/${socketName}`
  if (Buffer.byteLength(path) <= mostBytes) return { path, async close() {} }
  const handle: FileHandle = await open(folder, constants.O_DIRECTORY | constants.O_RDONLY)
  return { path: `/proc/self/fd/${handle.fd}/${socketName}`, close: () => handle.close() }
}
