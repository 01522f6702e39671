import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** The port itself if nobody listens on it; a free one for 0. Throws with what to do when it is taken. */
export async function available(host: string, port: number, variable: string): Promise<number> {
  const server = createServer()
  server.listen({ host, port, exclusive: true })
  try {
    await once(server, 'listening')
  } catch (error) {
    throw new Error(explain(error as NodeJS.ErrnoException, host, port, variable))
  }
  const taken = (server.address() as AddressInfo).port
  server.close()
  await once(server, 'close')
  return taken
}

function explain(
  { code, message }: NodeJS.ErrnoException,
  host: string,
  port: number,
  variable: string,
): string {
  if (code === 'EADDRINUSE')
    return `port ${port} is taken: stop what uses it, or set ${variable} to another port`
  if (code === 'EACCES')
    return `no permission to listen on port ${port}: set ${variable} to a port above 1023`
  if (code === 'EADDRNOTAVAIL') return `this machine has no address ${host}: correct EYRIE_HOST`
  return `cannot listen on ${host}:${port}: ${message}`
}
