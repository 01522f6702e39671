import { Agent, get } from 'node:http'
import { text } from 'node:stream/consumers'

/** What the load has met: all requests, and latencies in ms, counted from the moment at which a request was due. */
export interface LoadResult {
  requests: number
  failed: number
  p50: number
  p99: number
  longest: number
}

/** What is asked, in turn. */
export interface LoadRequest {
  url: string
  token: string
}

/** So long it asks before it counts: its own code is not compiled yet, and takes the core from Postgres. */
const RAMP_S = 3

/**
 * Asks at a steady rate, whether or not there have been answers: node management-load.ts <a second> <seconds>, with
 * requests as JSON on standard input.
 */
if (import.meta.main) {
  const [rate, seconds] = process.argv.slice(2).map(Number) as [number, number]
  const requests = JSON.parse(await text(process.stdin)) as LoadRequest[]
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const latencies: number[] = []
  let failed = 0

  const ask = ({ url, token }: LoadRequest, due: number) =>
    new Promise<void>(resolve => {
      const done = (ok: boolean) => {
        if (!ok) failed += 1
        if (due >= counted) latencies.push(performance.now() - due)
        resolve()
      }
      get(url, { agent, headers: { authorization: `Bearer ${token}` } }, response => {
        response.resume().on('end', () => done(response.statusCode === 200))
      }).on('error', () => done(false))
    })

  const began = performance.now()
  const counted = began + RAMP_S * 1000
  const under: Promise<void>[] = []
  for (let n = 0; n < rate * (RAMP_S + seconds); n += 1) {
    const due = began + (n * 1000) / rate
    const early = due - performance.now()
    if (early > 1) await new Promise(resolve => setTimeout(resolve, early))
    under.push(ask(requests[n % requests.length] as LoadRequest, due))
  }
  await Promise.all(under)
  agent.destroy()
  latencies.sort((a, b) => a - b)
  const at = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0
  const result: LoadResult = {
    requests: under.length,
    failed,
    p50: at(0.5),
    p99: at(0.99),
    longest: at(1),
  }
  process.stdout.write(JSON.stringify(result))
}
