import { Agent, get } from 'node:http'

/**
 * Reads a URL over several connections and prints the seconds it took:
 * node configuration-reader.ts <url> <connections> <reads>.
 */
const [url = '', connections, reads] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) })
let remaining = Number(reads)

const read = () =>
  new Promise<void>((resolve, reject) => {
    get(url, { agent }, response => {
      if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`))
      response.resume().on('end', resolve)
    }).on('error', reject)
  })
const connection = async () => {
  while (remaining-- > 0) await read()
}
const startedAt = performance.now()
await Promise.all(Array.from({ length: Number(connections) }, connection))
agent.destroy()
console.log((performance.now() - startedAt) / 1000)
