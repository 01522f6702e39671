import { readdirSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { type Bench, formatLimit, judge, type Verdict } from './bench.ts'

/**
 * Runs every `*.bench.ts` in this folder, or those whose names contain one of the arguments,
 * and prints one table.
 */
const filters = process.argv.slice(2)
const files = readdirSync(import.meta.dirname)
  .filter(file => file.endsWith('.bench.ts'))
  .filter(file => filters.length === 0 || filters.some(filter => file.includes(filter)))

console.log(
  `${cpus()[0]?.model ?? 'unknown processor'}, ${availableParallelism()} cores, Node ${process.version}\n`,
)

let failures = files.length === 0 ? 1 : 0
if (files.length === 0) console.log(`no benchmark matches ${filters.join(' ')}`)
for (const file of files) {
  const { bench }: { bench: Bench } = await import(new URL(file, import.meta.url).href)
  const { verdict, detail } = await measure(bench)
  if (verdict.outcome !== 'ok') failures += 1
  const result =
    verdict.outcome === 'invalid' ? verdict.reason : verdict.value.toFixed(3) + (bench.unit ?? '')
  console.log(`${verdict.outcome.padEnd(7)} ${bench.name}: ${result} (${formatLimit(bench)})`)
  console.log(`        ${detail}\n`)
}
process.exit(failures ? 1 : 0)

/** One benchmark that throws does not end the run. */
async function measure(bench: Bench): Promise<{ verdict: Verdict; detail: string }> {
  try {
    const measurement = await bench.run()
    return { verdict: judge(bench, measurement), detail: measurement.detail }
  } catch (error) {
    return {
      verdict: { outcome: 'invalid', reason: 'it threw' },
      detail: String((error as Error).stack),
    }
  }
}
