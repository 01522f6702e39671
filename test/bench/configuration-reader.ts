import { Agent, get } from 'node:http'

/** Reads an address so many times over so many connections: node configuration-reader.ts <url> <connections> <reads>. */
const [url = '', connections, reads] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) })
let left = Number(reads)

const read = () =>
  new Promise<void>((resolve, reject) => {
    get(url, { agent }, response => {
      if (response.statusCode !== 200) reject(new Error(`${url} answered ${response.statusCode}`))
      response.resume().on('end', resolve)
    }).on('error', reject)
  })
const reader = async () => {
  while (left-- > 0) await read()
}
const began = performance.now()
await Promise.all(Array.from({ length: Number(connections) }, reader))
agent.destroy()
console.log((performance.now() - began) / 1000)
