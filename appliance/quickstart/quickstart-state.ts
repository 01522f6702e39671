import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'

/** The resources that an earlier start created. The next start changes only these. */
const quickstartState = z.object({
  source: z.number().optional(),
  pipeline: z.number().optional(),
  sink: z.number().optional(),
  /** Whether the source is the demo scene. */
  scene: z.boolean(),
  /** The folder of the file in `SOURCE`, which media may read in addition to its own folders. */
  folder: z.string().optional(),
})
export type QuickstartState = z.infer<typeof quickstartState>

const getPath = (data: string) => join(data, 'quickstart.json')

/** Reads the state of the last start; undefined if there is none. */
export function readState(data: string): QuickstartState | undefined {
  try {
    return quickstartState.parse(JSON.parse(readFileSync(getPath(data), 'utf8')))
  } catch {
    return undefined
  }
}

export function writeState(data: string, state: QuickstartState): void {
  const path = getPath(data)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.new`, `${JSON.stringify(state, null, 2)}\n`)
  renameSync(`${path}.new`, path)
}
