import { createHash } from 'node:crypto'
import { join } from 'node:path'

/**
 * The ZeroMQ endpoint by which pipelines of one engine reach one another under a name: a socket in the folder that
 * engine and media share, whose path has to be short.
 */
export function internalEndpoint(ringFolder: string, name: string): string {
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 16)
  return `ipc://${join(ringFolder, `${digest}.sock`)}`
}
