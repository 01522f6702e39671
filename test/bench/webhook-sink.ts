import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// A receiver of webhooks in a process of its own: prints its port, counts distinct ids, and answers
// GET with both counts.

const ids = new Set<string>()
let calls = 0

const server = createServer((request, response) => {
  if (request.method === 'GET') return response.end(JSON.stringify({ calls, distinct: ids.size }))
  request.resume().on('end', () => {
    calls += 1
    ids.add(String(request.headers['webhook-id']))
    response.end('ok')
  })
}).listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
