import { readdirSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { type Bench, holds, limitText } from './bench.ts'

/** Runs every `*.bench.ts` beside this file, or those that the arguments name, and prints one table. */
const wanted = process.argv.slice(2)
const files = readdirSync(import.meta.dirname)
  .filter(file => file.endsWith('.bench.ts'))
  .filter(file => wanted.length === 0 || wanted.some(name => file.includes(name)))

console.log(
  `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, Node ${process.version}\n`,
)

let failed = 0
for (const file of files) {
  const { bench }: { bench: Bench } = await import(new URL(file, import.meta.url).href)
  const { value, detail } = await bench.run()
  const ok = holds(bench, value)
  if (!ok) failed += 1
  console.log(
    `${ok ? 'ok  ' : 'OVER'} ${bench.name}: ${value.toFixed(3)}${bench.unit ?? ''} (${limitText(bench)})`,
  )
  console.log(`     ${detail}\n`)
}
process.exit(failed ? 1 : 0)
