import { WebSocket } from 'ws'
import { z } from 'zod'
import type { Stack } from './stack.ts'
import { waitUntil } from './wait-until.ts'

const EMAIL = 'admin@localhost'

/** The published port of management, as a person and a program use it. */
export interface Console {
  /** Header of requests that belong to the session. */
  readonly cookie: string
  get(path: string): Promise<z.infer<typeof answer>>
  post(path: string, body: object): Promise<z.infer<typeof answer>>
  /** Creates a record and returns its id. */
  create(kind: string, body: object): Promise<string>
  /** Resolves with the first message of this kind in the output of the local engine. */
  waitForOutput(kind: string): Promise<void>
  /** Returns the channels as the live page shows them. */
  listChannels(): Promise<z.infer<typeof channels>>
  fetchSnapshot(stream: number): Promise<Response>
}

const answer = z.looseObject({ response: z.any(), message: z.string().optional() })
const channels = z.array(
  z.looseObject({ stream: z.number().nullable(), status: z.string(), fps: z.number() }),
)

/** Signs in when management is ready. */
export async function signIn({ url, password }: Stack): Promise<Console> {
  const json = { 'content-type': 'application/json', origin: url }
  const { token, cookie } = await waitUntil('sign-in', async () => {
    const api = await fetch(`${url}/api/v1/user/auth`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ email: EMAIL, password }),
    })
    const session = await fetch(`${url}/session`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ email: EMAIL, password }),
    })
    if (!api.ok || !session.ok) {
      throw new Error(`${api.status} ${session.status} ${await session.text()}`)
    }
    const body = (await api.json()) as { response: { access_token: string } }
    const cookies = session.headers.getSetCookie().map(text => text.split(';')[0])
    return { token: body.response.access_token, cookie: cookies.join('; ') }
  })

  async function request(method: string, path: string, body?: object) {
    const response = await fetch(`${url}/api/v1/${path}`, {
      method,
      headers: { ...json, authorization: `Bearer ${token}` },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return {
      location: response.headers.get('location') ?? '',
      parsed: answer.parse(JSON.parse(text || '{}')),
    }
  }

  return {
    cookie,
    get: async path => (await request('GET', path)).parsed,
    post: async (path, body) => (await request('POST', path, body)).parsed,
    create: async (kind, body) => {
      const { location } = await request('POST', `${kind}/create`, body)
      return location.slice(location.lastIndexOf('=') + 1)
    },
    waitForOutput: kind =>
      waitUntil(`a message ${kind} in the output`, async () => {
        const socket = new WebSocket(`${url.replace('http', 'ws')}/live/output?kinds=${kind}`, {
          headers: { cookie, origin: url },
        })
        await new Promise<void>((resolve, reject) => {
          socket.on('message', data => {
            if ((JSON.parse(String(data)) as { kind: string }).kind === kind) resolve()
          })
          socket.on('error', reject)
          socket.on('close', code => reject(new Error(`the output was closed with ${code}`)))
        }).finally(() => socket.terminate())
      }),
    listChannels: async () => {
      const response = await fetch(`${url}/live/channels`, { headers: { cookie } })
      if (!response.ok) {
        throw new Error(`/live/channels: ${response.status} ${await response.text()}`)
      }
      return channels.parse(await response.json())
    },
    fetchSnapshot: stream =>
      fetch(`${url}/live/streams/${stream}/snapshot.jpg`, { headers: { cookie } }),
  }
}
