import { once } from 'node:events'
import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import { Hono } from 'hono'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type ListeningServer, listen } from '../listen.ts'
import { serveWebSocket } from '../serve-web-socket.ts'
import { getRequestClient } from './request-client.ts'
import { trustedProxies } from './trusted-proxies.ts'

let server: ListeningServer | undefined
afterEach(() => server?.close())

/** Starts a server that answers with its client, and trusts these proxies. */
async function serve(trusted: string) {
  const app = new Hono()
  app.get('/client', c => c.json(getRequestClient(c)))
  app.get(
    '/socket',
    serveWebSocket(getRequestClient, client => ({
      onOpen: (_event, socket) => socket.send(JSON.stringify(client)),
    })),
  )
  const health = () => ({ ok: true }) as const
  server = await listen({ app, health }, '127.0.0.1', 0, {
    trustedProxies: trustedProxies.parse(trusted),
  })
  return server.port
}

async function fetchClient(port: number, headers: Record<string, string>, path = '/client') {
  const sent = request({
    port,
    host: '127.0.0.1',
    path,
    headers: { host: 'eyrie:8080', ...headers },
  }).end()
  const [response] = await once(sent, 'response')
  return { status: response.statusCode, body: await json(response) }
}

const TRUSTED = '127.0.0.1, 10.0.0.0/24, 2001:db8:1::/64'

describe('a server without trusted proxies', () => {
  it('identifies a client of this machine by its connection', async () => {
    const { body } = await fetchClient(await serve(''), {})
    const direct = { address: '127.0.0.1', protocol: 'http', host: 'eyrie:8080' }
    expect(body).toEqual({ ...direct, isForwarded: false, isLocal: true })
  })

  it.each([
    'Forwarded',
    'X-Forwarded-For',
    'X-Forwarded-Proto',
    'X-Forwarded-Host',
    'X-Forwarded-Port',
    'X-Real-IP',
    'Via',
  ])('refuses a request with %s and says how to configure a proxy', async name => {
    const port = await serve('')
    for (const path of ['/client', '/nowhere', '/health']) {
      const { status, body } = await fetchClient(port, { [name]: '127.0.0.1' }, path)
      expect(status).toBe(403)
      const advice =
        /^127\.0\.0\.1 is no trusted proxy.* set EYRIE_TRUSTED_PROXIES to the address of your proxy/
      expect(body).toMatchObject({ code: 'proxy', reason: expect.stringMatching(advice) })
    }
  })

  it('refuses a WebSocket that a proxy has forwarded', async () => {
    const url = `ws://127.0.0.1:${await serve('192.0.2.1')}/socket`
    const socket = new WebSocket(url, { headers: { 'X-Forwarded-For': '127.0.0.1' } })
    const [, response] = await once(socket, 'unexpected-response')
    expect([response.statusCode, await json(response)]).toMatchObject([403, { code: 'proxy' }])
  })
})

describe('a server with trusted proxies', () => {
  it('takes address, protocol and host of the client from the proxy', async () => {
    const port = await serve(TRUSTED)
    const headers = {
      'X-Forwarded-For': '203.0.113.7',
      'X-Forwarded-Proto': 'https',
      'X-Forwarded-Host': 'eyrie.example',
    }
    const client = { address: '203.0.113.7', protocol: 'https', host: 'eyrie.example' }
    const expected = { ...client, isForwarded: true, isLocal: false }
    expect((await fetchClient(port, headers)).body).toEqual(expected)

    const socket = new WebSocket(`ws://127.0.0.1:${port}/socket`, {
      headers: { ...headers, 'X-Forwarded-Proto': 'wss' },
    })
    const [message] = await once(socket, 'message')
    expect(JSON.parse(String(message))).toEqual(expected)
    socket.terminate()
  })

  it.each([
    ['the address of the client', '203.0.113.7', '203.0.113.7'],
    ['what the client has claimed itself', '127.0.0.1, 203.0.113.7', '203.0.113.7'],
    ['an invalid address that the client has claimed', 'unknown, 203.0.113.7', '203.0.113.7'],
    ['a chain of trusted proxies', '198.51.100.1, 203.0.113.7, 10.0.0.9', '203.0.113.7'],
    ['a mapped address of a trusted proxy', '203.0.113.7, ::ffff:10.0.0.9', '203.0.113.7'],
    ['an address that embeds a trusted one', '203.0.113.7, 2002:0a00:0009::1', '2002:0a00:0009::1'],
    ['an address with a port', '203.0.113.7:4711', '203.0.113.7'],
    ['an IPv6 address with a port', '[2001:db8:2::7]:4711', '2001:db8:2::7'],
    ['only trusted addresses', '10.0.0.1, 127.0.0.1', '10.0.0.1'],
  ])('finds the nearest address that is not trusted in %s', async (_, header, address) => {
    const { body } = await fetchClient(await serve(TRUSTED), { 'X-Forwarded-For': header })
    expect(body).toMatchObject({ address, isLocal: false })
  })

  it('reads the parameters of Forwarded', async () => {
    const forwarded =
      'for=127.0.0.1;host=evil.example, for="[2001:db8:2::7]:4711";proto=https;host="eyrie.example:8443"'
    const { body } = await fetchClient(await serve(TRUSTED), { Forwarded: forwarded })
    const client = { address: '2001:db8:2::7', protocol: 'https', host: 'eyrie.example:8443' }
    expect(body).toMatchObject(client)
  })

  it.each([
    ['no address of a client', { Via: '1.1 proxy' }, /does not send the address of its client/],
    [
      'an invalid address',
      { 'X-Forwarded-For': 'localhost' },
      /names its client "localhost", which is no IP/,
    ],
    ['a hidden address', { Forwarded: 'for=_hidden' }, /names its client "_hidden"/],
    [
      'an invalid host',
      { 'X-Forwarded-For': '203.0.113.7', 'X-Forwarded-Host': 'a b' },
      /names the host "a b", which is not valid/,
    ],
    [
      'a header that the client has set itself',
      { 'X-Forwarded-For': '203.0.113.7', Forwarded: 'for=127.0.0.1' },
      /both X-Forwarded-For and Forwarded: remove the one that it does not set/,
    ],
  ])('refuses %s with the remedy', async (_, headers, reason) => {
    const { status, body } = await fetchClient(
      await serve(TRUSTED),
      headers as Record<string, string>,
    )
    expect(status).toBe(403)
    expect(body).toMatchObject({ code: 'proxy', reason: expect.stringMatching(reason) })
  })

  it('accepts direct connections from the address of the proxy', async () => {
    expect((await fetchClient(await serve(TRUSTED), {})).body).toMatchObject({ isLocal: true })
  })
})

it.each(['proxy', '10.0.0.0/33', '10.0.0.0/', '10.0.0.1-9', '2001:db8::/129'])(
  'the list of trusted proxies rejects %s',
  entry => {
    const { error } = trustedProxies.safeParse(`127.0.0.1,${entry}`)
    expect(error?.issues[0]?.message).toBe(
      `${entry}: expected addresses and networks such as 127.0.0.1 or 10.0.0.0/24, separated by commas`,
    )
  },
)
