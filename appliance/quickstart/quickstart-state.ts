import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { lines } from '@eyrie/element'
import { readJsonFile, writeJsonFile } from '@eyrie/kit/json-file'
import { z } from 'zod'

/**
 * The resources that the quickstart has created. A later start with another source
 * or model updates them.
 */
const quickstartState = z.object({
  source: z.number().optional(),
  pipeline: z.number().optional(),
  sink: z.number().optional(),
  /** Whether the source is the demo scene. */
  scene: z.boolean(),
  /**
   * Folder of the file in `SOURCE`. The media service may read it, in addition to
   * the configured folders.
   */
  folder: z.string().optional(),
  /**
   * The lines that the quickstart has drawn and may replace by proposed ones. Missing
   * once it has done so.
   */
  replaceable_lines: lines.optional(),
})
export type QuickstartState = z.infer<typeof quickstartState>

const getPath = (data: string) => join(data, 'quickstart.json')

/** Reads the stored state. Returns undefined if it is missing or invalid. */
export function readState(data: string): QuickstartState | undefined {
  try {
    return readJsonFile(getPath(data), quickstartState)
  } catch {
    return undefined
  }
}

/** Replaces the stored state. */
export function writeState(data: string, state: QuickstartState): void {
  const path = getPath(data)
  mkdirSync(dirname(path), { recursive: true })
  writeJsonFile(path, state)
}
