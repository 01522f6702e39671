import { get } from 'node:http'
import { sql } from 'drizzle-orm'
import type { Bench } from './bench.ts'
import { startPopulatedManagement } from './populated-management.ts'

const sites = 200
const devices = 20
/** Calls until the code is compiled and the connections have planned their queries. */
const warmUpCalls = 5
const calls = 15

export const bench: Bench = {
  name: `median time of Customer View with ${sites} sites of ${devices} devices`,
  limit: { max: 400 },
  unit: ' ms',

  async run() {
    const management = await startPopulatedManagement({
      organizations: 1,
      sites,
      devices,
      name: 'large',
    })
    try {
      const [customer] = await management.database.system('bench', tx =>
        tx.execute<{ customer_id: string }>(
          sql`select customer_id from customer where customer_key = 'large-default'`,
        ),
      )
      const url = `${management.api}/customer/view?type=1&customer_id=${customer!.customer_id}`
      const times: number[] = []
      let bytes = 0
      for (let call = 0; call < warmUpCalls + calls; call += 1) {
        const startedAt = performance.now()
        bytes = await download(url, management.token)
        times.push(performance.now() - startedAt)
      }
      return {
        samples: times.slice(warmUpCalls),
        // A device takes some hundred bytes: a view without its devices would be fast and wrong.
        loads: [{ name: 'bytes of the view', min: sites * devices * 200, actual: bytes }],
        detail: `first call ${times[0]!.toFixed(0)} ms, ${(bytes / 1e6).toFixed(1)} MB`,
      }
    } finally {
      await management.stop()
    }
  },
}

/**
 * Reads a response to its end and resolves with its size. `fetch` would assemble it on the
 * cores that serve it.
 */
const download = (url: string, token: string) =>
  new Promise<number>((resolve, reject) => {
    get(url, { headers: { authorization: `Bearer ${token}` } }, response => {
      // Management answers 202 while an engine is offline, because the view may be out of date.
      if (response.statusCode! >= 300) reject(new Error(`${url} answered ${response.statusCode}`))
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      response.on('end', () => resolve(bytes))
    }).on('error', reject)
  })
