import { type benchAnswer, benchRequest } from '@eyrie/contract/plugin-bench'
import { createEgress, createLog, readEnvironment } from '@eyrie/kit'
import type { z } from 'zod'
import { measureElement } from './measure-element.ts'

// Measures an element for `eyrie plugin bench`: the argument is the request as JSON, the
// output is the answer.

const request = benchRequest.parse(JSON.parse(process.argv[2]!))
const egress = createEgress('plugin', readEnvironment(process.env))
const answer: z.input<typeof benchAnswer> = await measureElement(request, {
  egress,
  log: createLog('engine', 'silent'),
}).then(
  measured => ({ measured }),
  (error: Error) => ({ problem: error.message }),
)
process.stdout.write(JSON.stringify(answer), () => process.exit())
