import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createEgress, readEnvironment } from '@eyrie/kit'
import { decodeJwt, SignJWT } from 'jose'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  CONSOLE,
  NOT_CONFIRMED,
  NOT_STARTED,
  refused,
  sharedProviderSignIn,
} from '../../../../test/fixtures/management/provider-sign-in.ts'
import { CLIENT_SECRET, withClaims } from '../../../../test/fixtures/network/identity-provider.ts'

const { provider, clock, configure, createApp, openBrowser } = sharedProviderSignIn()

describe('an attacker', () => {
  it('cannot make another browser finish a sign-in', async () => {
    const callback = await provider.signIn(await openBrowser().start())
    expect(await openBrowser().comeBack(callback)).toEqual(refused(NOT_STARTED))
    const other = openBrowser()
    await other.start()
    expect(await other.comeBack(callback)).toEqual(refused(NOT_CONFIRMED))
  })

  it('cannot use another state', async () => {
    const browser = openBrowser()
    const callback = await provider.signIn(await browser.start())
    callback.searchParams.set('state', 'another')
    expect(await browser.comeBack(callback)).toEqual(refused(NOT_CONFIRMED))
  })

  it('cannot use a code twice, even with the cookie', async () => {
    const browser = openBrowser()
    const callback = await provider.signIn(await browser.start())
    const cookies = new Map(browser.cookies)
    expect((await browser.comeBack(callback)).location).toBe('/')
    const replay = openBrowser()
    for (const [name, value] of cookies) replay.cookies.set(name, value)
    expect(await replay.comeBack(callback)).toEqual(refused(NOT_CONFIRMED))
  })

  it('cannot use an old cookie', async () => {
    const browser = openBrowser()
    const callback = await provider.signIn(await browser.start())
    clock.now = new Date(clock.now.getTime() + 600_001)
    expect(await browser.comeBack(callback)).toEqual(refused(NOT_STARTED))
  })

  const hourAgo = Math.floor(Date.now() / 1000) - 3600
  it.each([
    ['nonce', { nonce: 'another' }],
    ['audience', { aud: 'another client' }],
    ['issuer', { iss: 'https://another.test' }],
    ['expiry', { iat: hourAgo - 60, exp: hourAgo }],
  ])('cannot use an ID token with the wrong %s', async (_, claims) => {
    provider.answers.replaceIdToken = withClaims(provider, claims)
    expect(await openBrowser().signIn()).toEqual(refused(NOT_CONFIRMED))
  })

  it('cannot use an ID token without a signature, or with the signature of another key', async () => {
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
    provider.answers.replaceIdToken = token =>
      `${encode({ alg: 'none' })}.${encode(decodeJwt(token))}.`
    expect(await openBrowser().signIn()).toEqual(refused(NOT_CONFIRMED))
    provider.answers.replaceIdToken = token =>
      `${token.slice(0, -8)}${token.endsWith('AAAAAAAA') ? 'BBBBBBBB' : 'AAAAAAAA'}`
    expect(await openBrowser().signIn()).toEqual(refused(NOT_CONFIRMED))
    // The secret of the client as the key, as if the token were symmetric.
    provider.answers.replaceIdToken = token =>
      new SignJWT(decodeJwt(token))
        .setProtectedHeader({ alg: 'HS256' })
        .sign(Buffer.from(CLIENT_SECRET))
    expect(await openBrowser().signIn()).toEqual(refused(NOT_CONFIRMED))
  })

  it('cannot write the reason on the sign-in page', async () => {
    const browser = openBrowser()
    await browser.start()
    const { failure } = await browser.comeBack(
      new URL(
        `${CONSOLE}/session/provider/callback?error=access_denied&error_description=call+0123`,
      ),
    )
    expect(failure).toBe(NOT_CONFIRMED)
  })
})

/** Starts a server and returns its address. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('an identity provider that does not answer', () => {
  it('is asked again after five seconds, not at every sign-in', async () => {
    let requests = 0
    const issuer = await serve((_, response) => {
      requests += 1
      response.writeHead(500).end()
    })
    await configure({ oidc_issuer: issuer })
    const browser = openBrowser()
    for (let n = 0; n < 3; n += 1) expect(await browser.start()).toBe('/sign-in')
    expect(requests).toBe(1)
    expect((await browser.readStatus()).failure).toBe(
      'Test Provider does not answer: try again later, or sign in with a password',
    )
    clock.now = new Date(clock.now.getTime() + 5_000)
    await browser.start()
    expect(requests).toBe(2)
  })

  it('is not asked at an address inside of the network, nor at another one to which it redirects', async () => {
    const before = provider.requests.length
    const strict = await createApp(createEgress('identity', readEnvironment({})))
    expect(await openBrowser(strict).start()).toBe('/sign-in')
    expect(provider.requests.length).toBe(before)

    const oidcIssuer = await serve((incoming, response) => {
      response.writeHead(302, { location: provider.issuer + incoming.url }).end()
    })
    await configure({ oidc_issuer: oidcIssuer })
    expect(await openBrowser().start()).toBe('/sign-in')
    expect(provider.requests.length).toBe(before)
  })
})
