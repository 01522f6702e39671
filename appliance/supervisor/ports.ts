import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** The port on which a service listens. */
export interface PortSetting {
  host: string
  /** 0 for any free port. */
  port: number
  /** The environment variable that sets the port. */
  variable: string
}

/**
 * Returns the port if it is free, or a free port for 0. Throws an `Error` with the remedy if the
 * port cannot be used.
 */
export async function findFreePort(setting: PortSetting): Promise<number> {
  const { host, port } = setting
  const server = createServer()
  server.listen({ host, port, exclusive: true })
  try {
    await once(server, 'listening')
  } catch (error) {
    throw new Error(explainListenError(error as NodeJS.ErrnoException, setting))
  }
  const { port: freePort } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return freePort
}

function explainListenError(
  { code, message }: NodeJS.ErrnoException,
  { host, port, variable }: PortSetting,
): string {
  if (code === 'EADDRINUSE') {
    return `port ${port} is already in use: stop the process that uses it, or set ${variable} to another port`
  }
  if (code === 'EACCES') {
    return `no permission to listen on port ${port}: set ${variable} to a port above 1023`
  }
  if (code === 'EADDRNOTAVAIL') {
    return `this machine has no address ${host}: correct ${variable.replace('_PORT', '_HOST')} or EYRIE_HOST`
  }
  return `cannot listen on ${host}:${port}: ${message}`
}
