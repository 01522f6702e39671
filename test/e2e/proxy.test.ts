// @module-tag long

import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request as requestHttp } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { Transformer } from '@napi-rs/image'
import type { Browser, Page, Response } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openBrowser } from '../fixtures/browser/browser.ts'
import { createLink } from '../fixtures/browser/local-session.ts'
import { organizationInput } from '../fixtures/management/hierarchy.ts'
import { SMALL_PICTURE } from '../fixtures/media/small-picture.ts'
import { createCertificate } from '../fixtures/network/certificate.ts'
import { findFreePort } from '../fixtures/network/free-ports.ts'
import { type Nginx, nginxRequirement, startNginx } from '../fixtures/network/nginx.ts'
import { type Appliance, startAppliance } from '../fixtures/processes/appliance.ts'
import { needs } from '../fixtures/requirements/needs.ts'
import { webrtcWorkerRequirement } from '../fixtures/requirements/webrtc-worker.ts'

const WAIT = { timeout: 120_000 }
const administrator = { email: 'owner@eyrie.test', password: 'correct horse battery staple' }
/** Addresses of this machine that are not the one of the proxy. */
const CLIENT = '127.0.0.7'
const OTHER_CLIENT = '127.0.0.8'

const folder = mkdtempSync(join(tmpdir(), 'eyrie-proxy-'))
let appliance: Appliance
let nginx: Nginx
let browser: Browser
/** Address of the console behind the proxy. */
let origin: string
/** Certificate of the proxy. */
let ca: string

/** Reads the configuration of nginx in the guide, and replaces its addresses and files. */
function readGuide(files: { cert: string; key: string }, port: number): string {
  const guide = readFileSync(resolve(import.meta.dirname, '../../docs/guide/proxy.md'), 'utf8')
  const [, configuration = ''] = /```nginx\n(.*?)```/s.exec(guide) ?? []
  const replacements = {
    'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
    'eyrie.example.com': '127.0.0.1',
    '/etc/ssl/eyrie.crt': files.cert,
    '/etc/ssl/eyrie.key': files.key,
    'http://127.0.0.1:8080': appliance.consoleUrl,
  }
  return Object.entries(replacements).reduce((replaced, [from, to]) => {
    expect(replaced).toContain(from)
    return replaced.replaceAll(from, to)
  }, configuration)
}

describe('behind nginx, configured as in the guide', needs(nginxRequirement), () => {
  beforeAll(async () => {
    browser = await openBrowser()
    appliance = await startAppliance({
      source: SMALL_PICTURE,
      environment: {
        EYRIE_TRUSTED_PROXIES: '127.0.0.1',
        EYRIE_ADMIN_EMAIL: administrator.email,
        EYRIE_ADMIN_PASSWORD: administrator.password,
      },
    })
    const files = createCertificate(folder)
    const port = await findFreePort()
    nginx = await startNginx(readGuide(files, port), port, folder)
    origin = `https://127.0.0.1:${port}`
    ca = readFileSync(files.cert, 'utf8')
    await appliance.waitForLine(/ready: open/)
  }, 300_000)
  afterAll(async () => {
    await nginx?.stop()
    await Promise.all([appliance?.remove(), browser?.close()])
    rmSync(folder, { recursive: true })
  })

  /** Sends a request to the proxy from an address of this machine. */
  async function send(
    path: string,
    { body, ...options }: RequestOptions & { body?: string | Uint8Array } = {},
  ) {
    const sent = request(new URL(path, origin), {
      ca,
      localAddress: CLIENT,
      agent: false,
      ...options,
    })
    sent.end(body)
    const [response] = await once(sent, 'response')
    return { status: response.statusCode, headers: response.headers, body: await text(response) }
  }

  const call = async (
    path: string,
    token: string,
    input?: object,
    headers: Record<string, string> = {},
  ) => {
    const method = input ? 'POST' : 'GET'
    const sent = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...headers,
    }
    const { body } = await send(`/api/v1${path}`, {
      method,
      headers: sent,
      body: JSON.stringify(input),
    })
    return JSON.parse(body).response
  }

  async function getToken(headers: Record<string, string> = {}): Promise<string> {
    const { body } = await send('/api/v1/user/auth', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(administrator),
    })
    return JSON.parse(body).response.access_token
  }

  /** Opens the console behind the proxy, which asks for the sign-in. */
  async function openPage({ script = '' } = {}): Promise<Page> {
    const context = await browser.newContext({ ignoreHTTPSErrors: true })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    await page.addInitScript(script)
    await page.goto(origin)
    return page
  }

  async function signIn(page: Page): Promise<void> {
    await page.getByLabel('E-mail').fill(administrator.email)
    await page.getByLabel('Password').fill(administrator.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  const countFrames = (page: Page) => async () =>
    Number(await page.locator('.stage canvas.boxes[data-frames]').getAttribute('data-frames', WAIT))

  it('the console plays live video over a WebSocket, after signing in with a secure cookie', async () => {
    const page = await openPage({ script: 'delete globalThis.RTCPeerConnection' })
    // Waits from before the sign-in, because the page opens the socket at once.
    const opening = page.waitForEvent('websocket', {
      predicate: each => /^wss:.*\/streams\//.test(each.url()),
      ...WAIT,
    })
    await signIn(page)
    const socket = await opening
    expect(new URL(socket.url()).host).toBe(new URL(origin).host)
    await expect.poll(countFrames(page), WAIT).toBeGreaterThan(10)
    const [cookie] = await page.context().cookies()
    expect(cookie).toMatchObject({ name: '__Host-eyrie_session', secure: true, sameSite: 'Strict' })
  }, 300_000)

  it('the console plays live video by WebRTC', {
    ...needs(webrtcWorkerRequirement),
    timeout: 300_000,
  }, async () => {
    const page = await openPage()
    const isAnswer = (each: Response) =>
      each.request().method() === 'POST' && /\/whep\b/.test(each.url())
    const answering = page.waitForResponse(isAnswer, WAIT)
    await signIn(page)
    const answer = await answering
    expect([answer.status(), answer.headers().location]).toEqual([
      201,
      expect.stringMatching(/^\/live\/streams\/\d+\/whep\/[\da-f-]+$/),
    ])
    await expect.poll(countFrames(page), WAIT).toBeGreaterThan(10)
  })

  it('the largest images can be uploaded', async () => {
    const pixels = new Uint8Array(64 * 64 * 4).fill(200)
    const jpeg = await Transformer.fromRgbaPixels(pixels, 64, 64).jpeg()
    const body = Buffer.concat([jpeg, Buffer.alloc((16 << 20) - jpeg.length)])
    const token = await getToken()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'image/jpeg' }
    const uploaded = await send('/api/v1/image/upload', { method: 'POST', headers, body })
    expect([uploaded.status, uploaded.body]).toEqual([201, expect.any(String)])
  }, 120_000)

  it('sessions and the audit log show the address of the client, not one that it has claimed', async () => {
    const claims = {
      'X-Forwarded-For': '203.0.113.9',
      Forwarded: 'for=203.0.113.9',
      'X-Real-IP': '203.0.113.9',
    }
    const token = await getToken(claims)
    const sessions = await call('/user/sessions', token)
    expect(sessions.at(-1)).toMatchObject({ address: CLIENT })

    await call('/organization/create', token, organizationInput('proxied'), claims)
    const entries = await call('/audit/list?record=organization', token)
    expect(entries).toMatchObject([
      { change: 'create', actor: administrator.email, address: CLIENT },
    ])
  }, 120_000)

  it('failed sign-ins of one client do not delay those of another', async () => {
    const attempt = (localAddress: string, claimed: string) =>
      send('/api/v1/user/auth', {
        localAddress,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'X-Forwarded-For': claimed },
        body: JSON.stringify({ ...administrator, password: 'guess' }),
      })
    let attempts = 0
    for (let status = 404; status === 404; attempts += 1) {
      ;({ status } = (await attempt(CLIENT, `203.0.113.${attempts}`)) as { status: number })
    }
    expect(attempts).toBeLessThan(20)
    expect((await attempt(OTHER_CLIENT, '203.0.113.1')).status).toBe(404)
  }, 180_000)

  it('a link for the box itself shows nothing to clients of the proxy', async () => {
    const { search } = new URL(await createLink(appliance))
    const opened = await send(`/${search}`, { headers: { 'X-Forwarded-For': '127.0.0.1' } })
    expect([opened.status, opened.headers.location, opened.headers['set-cookie']]).toEqual([
      303,
      '/link',
      undefined,
    ])
    expect((await send('/live/channels', { localAddress: '127.0.0.1' })).status).toBe(401)
    expect((await send('/live/channels', { headers: await appliance.localSession() })).status).toBe(
      401,
    )
  }, 120_000)

  it('a client that connects past the proxy is refused if it claims to be one', async () => {
    for (const url of [appliance.consoleUrl, appliance.engineUrl, appliance.mediaUrl]) {
      // The services trust 127.0.0.1, but not the other addresses of this machine.
      const headers = { 'X-Forwarded-For': '127.0.0.1' }
      const [response] = await once(
        requestHttp(url, { localAddress: CLIENT, headers }).end(),
        'response',
      )
      expect(response.statusCode).toBe(403)
      expect(JSON.parse(await text(response))).toMatchObject({
        code: 'proxy',
        reason: expect.stringContaining(`${CLIENT} is no trusted proxy`),
      })
    }
  })

  it('pages of other sites are refused under the name of the proxy', async () => {
    const headers = { origin: 'https://evil.example' }
    expect((await send('/session', { headers })).status).toBe(403)
    expect((await send('/session', { headers: { origin } })).status).toBe(200)
  })
})
