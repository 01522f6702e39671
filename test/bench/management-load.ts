import { Agent, get } from 'node:http'
import { text } from 'node:stream/consumers'

/** Latencies in ms, from the moment when a request was due. */
export interface LoadResult {
  requests: number
  failed: number
  p50: number
  p99: number
  max: number
}

export interface LoadRequest {
  url: string
  token: string
}

/**
 * Requests before this are not counted: the generator's own code is not compiled yet and
 * competes with Postgres.
 */
const RAMP_S = 3

/**
 * Sends requests in turn at a constant rate, whether or not earlier ones were
 * answered: node management-load.ts <requests per second> <seconds>, with a JSON list
 * of requests on standard input.
 */
if (import.meta.main) {
  const [rate, seconds] = process.argv.slice(2).map(Number) as [number, number]
  const requests = JSON.parse(await text(process.stdin)) as LoadRequest[]
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const startedAt = performance.now()
  const countedFrom = startedAt + RAMP_S * 1000
  const latencies: number[] = []
  let failed = 0

  const send = ({ url, token }: LoadRequest, due: number) =>
    new Promise<void>(resolve => {
      const finish = (succeeded: boolean) => {
        if (!succeeded) failed += 1
        if (due >= countedFrom) latencies.push(performance.now() - due)
        resolve()
      }
      get(url, { agent, headers: { authorization: `Bearer ${token}` } }, response => {
        response.resume().on('end', () => finish(response.statusCode === 200))
      }).on('error', () => finish(false))
    })

  const inFlight: Promise<void>[] = []
  for (let n = 0; n < rate * (RAMP_S + seconds); n += 1) {
    const due = startedAt + (n * 1000) / rate
    const delay = due - performance.now()
    if (delay > 1) await new Promise(resolve => setTimeout(resolve, delay))
    inFlight.push(send(requests[n % requests.length]!, due))
  }
  await Promise.all(inFlight)
  agent.destroy()

  latencies.sort((a, b) => a - b)
  const percentile = (share: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN
  const result: LoadResult = {
    requests: inFlight.length,
    failed,
    p50: percentile(0.5),
    p99: percentile(0.99),
    max: percentile(1),
  }
  process.stdout.write(JSON.stringify(result))
}
