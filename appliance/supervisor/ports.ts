import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/**
 * Returns the port if it is free, or a free port for 0. Throws an `Error` with the remedy if the
 * port cannot be used; `variable` is the environment variable that sets the port.
 */
export async function findFreePort(host: string, port: number, variable: string): Promise<number> {
  const server = createServer()
  server.listen({ host, port, exclusive: true })
  try {
    await once(server, 'listening')
  } catch (error) {
    throw new Error(explainListenError(error as NodeJS.ErrnoException, host, port, variable))
  }
  const { port: freePort } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return freePort
}

function explainListenError(
  { code, message }: NodeJS.ErrnoException,
  host: string,
  port: number,
  variable: string,
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
