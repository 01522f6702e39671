import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readEnvironment } from '../environment.ts'
import { createEgress } from './egress.ts'
import { fetchFrom, fetchService } from './egress-fetch.ts'
import { createEgressPolicy, EgressDeniedError } from './egress-policy.ts'
import { EGRESS_PURPOSES, type EgressPurpose } from './egress-rules.ts'
import { openWebSocket } from './egress-web-socket.ts'

const { signal } = new AbortController()

/** Returns why a connection is denied; undefined if it is allowed. */
function findDenial(
  purpose: EgressPurpose,
  address: string,
  port: number,
  env: NodeJS.ProcessEnv = {},
) {
  try {
    createEgressPolicy(purpose, readEnvironment(env))(address, port)
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(EgressDeniedError)
    return (error as Error).message
  }
}

async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { port, url: `http://127.0.0.1:${port}` }
}

/** Starts a server that counts its connections. */
async function countConnections() {
  let connections = 0
  const server = createTcpServer(socket => {
    connections += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, connections: () => connections }
}

describe('the rules for outgoing connections', () => {
  it.each([
    '169.254.169.254',
    '100.100.100.200',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    'fd00:ec2::254',
  ])('deny the metadata address %s for every purpose', address => {
    for (const purpose of EGRESS_PURPOSES) {
      expect(findDenial(purpose, address, 80)).toContain('metadata address')
    }
  })

  it.each(['169.254.7.7', 'fe80::7', 'fe80::7%lo', '::ffff:169.254.7.7', '224.0.0.1', 'ff02::1'])(
    'deny %s for every purpose',
    address => {
      for (const purpose of EGRESS_PURPOSES) {
        expect(findDenial(purpose, address, 554)).toMatch(/link-local|multicast/)
      }
    },
  )

  it.each([
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '::1',
    '::',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::127.0.0.1',
  ])('deny engines at %s, and the ports of the appliance there for every purpose', address => {
    expect(findDenial('engine', address, 9000)).toContain('loopback address')
    expect(findDenial('camera', address, 9000)).toBeUndefined()
    expect(findDenial('sink', address, 9000)).toBeUndefined()
    for (const purpose of EGRESS_PURPOSES) {
      for (const port of [8080, 8100, 8200]) {
        if (purpose !== 'engine' || address !== '127.0.0.1' || port === 8080) {
          expect(findDenial(purpose, address, port)).toContain('a service of this appliance')
        }
      }
    }
  })

  it.each([
    '127.0.0.1',
    '10.0.0.7',
    '172.16.0.7',
    '192.168.7.7',
    '100.64.0.7',
    'fd00::7',
    '::ffff:10.0.0.7',
  ])('deny an identity provider at %s, unless the configuration names it', address => {
    const host = address.includes(':') ? `[${address}]` : address
    expect(findDenial('identity', address, 443)).toContain('no identity provider may be there')
    const env = { EYRIE_EGRESS_ALLOW: `identity=${host}:443` }
    expect(findDenial('identity', address, 443, env)).toBeUndefined()
    expect(findDenial('identity', address, 444, env)).toContain(`add identity=${host}:444`)
  })

  it('deny the ports of the appliance on the addresses of its network interfaces', () => {
    const addresses = Object.values(networkInterfaces()).flatMap(list => list ?? [])
    for (const { address } of addresses) {
      expect(findDenial('camera', address, 8100)).toContain('a service of this appliance')
    }
    expect(findDenial('camera', '192.0.2.1', 8100)).toBeUndefined()
  })

  it('follow the configured ports and addresses of the services', () => {
    const env = { EYRIE_ENGINE_PORT: '9100', EYRIE_MEDIA_URL: 'http://localhost:9200' }
    for (const port of [9100, 9200]) {
      expect(findDenial('camera', '127.0.0.1', port, env)).toContain('a service of this appliance')
    }
    expect(findDenial('camera', '127.0.0.1', 8100, env)).toBeUndefined()
  })

  it('let management reach the engine of the appliance, whose address the configuration names', () => {
    expect(findDenial('engine', '127.0.0.1', 8100)).toBeUndefined()
    expect(findDenial('engine', '127.0.0.1', 8101)).toContain('loopback address')
    expect(findDenial('engine', '10.0.0.7', 8100)).toBeUndefined()
  })

  it('have exceptions for one purpose each, which open the ports of the appliance only by name', () => {
    const EYRIE_EGRESS_ALLOW = 'engine=127.0.0.0/8, camera=169.254.0.0/16 camera=[fe80::]/10:554'
    const env = { EYRIE_EGRESS_ALLOW }
    expect(findDenial('engine', '127.0.0.1', 9000, env)).toBeUndefined()
    expect(findDenial('engine', '127.0.0.1', 8080, env)).toContain('a service of this appliance')
    expect(findDenial('camera', '169.254.7.7', 80, env)).toBeUndefined()
    expect(findDenial('sink', '169.254.7.7', 80, env)).toContain('link-local')
    expect(findDenial('camera', 'fe80::7', 554, env)).toBeUndefined()
    expect(findDenial('camera', 'fe80::7', 555, env)).toContain('camera=[fe80::7]:555')
    const named = { EYRIE_EGRESS_ALLOW: 'camera=127.0.0.1:8200' }
    expect(findDenial('camera', '127.0.0.1', 8200, named)).toBeUndefined()
  })

  it.each(['engine', 'engine=localhost', 'camera=10.0.0.0/99', 'door=10.0.0.1'])(
    'reject the exception %s',
    EyrieEgressAllow => {
      expect(() => readEnvironment({ EYRIE_EGRESS_ALLOW: EyrieEgressAllow })).toThrow(
        `EYRIE_EGRESS_ALLOW is not valid: ${EyrieEgressAllow}: expected entries such as`,
      )
    },
  )
})

describe('egress', () => {
  it.each([
    'localhost',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '[::ffff:127.0.0.1]',
    '[::1]',
  ])('denies http://%s, which is written in another form than it is reached', async host => {
    const { port, connections } = await countConnections()
    const egress = createEgress('engine', readEnvironment({}))
    await expect(fetchFrom(egress, `http://${host}:${port}`)).rejects.toThrow(EgressDeniedError)
    const socket = openWebSocket(egress, new URL(`ws://${host}:${port}`), {})
    const [error] = await once(socket, 'error')
    expect(error).toBeInstanceOf(EgressDeniedError)
    const plain = host.replace(/^\[|\]$/g, '')
    await expect(egress.connect({ host: plain, port }, { signal })).rejects.toThrow(
      EgressDeniedError,
    )
    await expect(egress.pin({ host: plain, port }, signal)).rejects.toThrow(EgressDeniedError)
    expect(connections()).toBe(0)
  })

  it('checks the address that is connected to, again for each connection', async () => {
    const { port, url } = await serve((_, response) =>
      response.setHeader('Connection', 'close').end('ok'),
    )
    const environment = readEnvironment({
      EYRIE_EGRESS_ALLOW: `engine=127.0.0.1:${port} engine=[::1]:${port}`,
    })
    const egress = createEgress('engine', environment)
    expect(await (await fetchFrom(egress, url)).text()).toBe('ok')
    expect(await (await fetchFrom(egress, `http://localhost:${port}`)).text()).toBe('ok')
    expect(await egress.pin({ host: 'localhost', port }, signal)).toMatch(/^127\.0\.0\.1$|^::1$/)
    environment.egressExceptions.length = 0
    await expect(fetchFrom(createEgress('engine', environment), url)).rejects.toThrow(
      EgressDeniedError,
    )
  })

  it('does not follow redirects', async () => {
    const { port, connections } = await countConnections()
    const { url } = await serve((_, response) =>
      response.writeHead(302, { Location: `http://127.0.0.1:${port}/` }).end(),
    )
    await expect(fetchService(url, '/health')).rejects.toThrow(
      `${url} redirects to another address`,
    )
    expect(connections()).toBe(0)
  })

  it('sends requests to a service only to its own address', async () => {
    const { port, connections } = await countConnections()
    const { url } = await serve((_, response) => response.end('ok'))
    expect(() => fetchService(url, `//127.0.0.1:${port}/`)).toThrow('is not a path of')
    expect(() => fetchService(url, `http://127.0.0.1:${port}/`)).toThrow('is not a path of')
    expect(connections()).toBe(0)
  })

  it('passes on method, headers, body, status and the streamed response', async () => {
    const { url } = await serve(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString()
      response.writeHead(201, { 'Set-Cookie': ['a=1', 'b=2'], 'X-Body-Length': body.length })
      response.write(`${request.method} `)
      response.end(request.headers.authorization)
    })
    const response = await fetchService(url, '/', {
      method: 'PUT',
      headers: { Authorization: 'Bearer token' },
      body: 'ä',
    })
    expect(response.status).toBe(201)
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
    expect(response.headers.get('x-body-length')).toBe('1')
    expect(await response.text()).toBe('PUT Bearer token')
  })

  it.each([
    { status: 200, options: { maxBytes: 10_000 }, limit: '10000 bytes' },
    { status: 500, options: {}, limit: '1 MiB' },
  ])(
    'abandons a response with status $status and more than $limit, with its connection',
    async ({ status, options, limit }) => {
      const endless: RequestListener = (_, response) => {
        const send = () => {
          while (!response.destroyed && response.write('x'.repeat(1000)));
        }
        response.on('drain', send).on('close', () => closed.resolve())
        response.writeHead(status)
        send()
      }
      const closed = Promise.withResolvers<void>()
      const { url } = await serve(endless)
      const response = await fetchService(url, '/', options)
      await expect(response.text()).rejects.toThrow(
        `the response of ${url} is larger than ${limit}`,
      )
      await closed.promise
    },
  )

  it('reads a response of the maximum size', async () => {
    const { url } = await serve((_, response) => response.end('12345'))
    const response = await fetchService(url, '/', { maxBytes: 5 })
    expect(await response.text()).toBe('12345')
  })

  it('sends a GET again if its kept connection turns out to be closed, but no POST', async () => {
    const received: string[] = []
    const used = new WeakSet<Socket>()
    // As a server that was restarted resets the connections of its previous run.
    const { url } = await serve(({ method, socket }, response) => {
      received.push(method!)
      if (used.has(socket)) return socket.resetAndDestroy()
      used.add(socket)
      response.end('ok')
    })
    const send = async (method: string) => (await fetchService(url, '/', { method })).text()
    expect(await send('GET')).toBe('ok')
    expect(await send('GET')).toBe('ok')
    await expect(send('POST')).rejects.toThrow('ECONNRESET')
    expect(received).toEqual(['GET', 'GET', 'GET', 'POST'])
  })

  it('does not repeat a GET over a new connection', async () => {
    const { port, connections } = await countConnections()
    await expect(fetchService(`http://127.0.0.1:${port}`, '/')).rejects.toThrow('socket hang up')
    expect(connections()).toBe(1)
  })

  it('ends a request and its response when the signal is aborted', async () => {
    const { url } = await serve((request, response) => {
      if (request.url === '/begin') response.write('begin')
    })
    const silent = new AbortController()
    const request = fetchService(url, '/silent', { signal: silent.signal })
    silent.abort(new Error('enough'))
    await expect(request).rejects.toThrow('enough')
    const begun = new AbortController()
    const response = await fetchService(url, '/begin', { signal: begun.signal })
    begun.abort(new Error('enough'))
    await expect(response.text()).rejects.toThrow()
  })
})
