import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseAs } from '@eyrie/contract/parse'
import { type Manifest, type ManifestElement, manifest, SDK_VERSION } from '@eyrie/contract/plugin'
import { z } from 'zod'

const MOST_BYTES = 256 << 10

/** The manifest of the plugin in `folder`. Throws an Error that says what is wrong with it and where. */
export function readManifest(folder: string): Manifest {
  const path = join(folder, 'plugin.json')
  const { size } = statSync(path)
  if (size > MOST_BYTES) throw new Error(`plugin.json has ${size} bytes: it may have ${MOST_BYTES}`)
  const written = parseJson(readFileSync(path, 'utf8'))
  const { sdk } = parseAs(z.looseObject({ sdk: z.unknown() }), written, 'plugin.json')
  if (typeof sdk === 'number' && sdk !== SDK_VERSION)
    throw new Error(
      `/sdk: it is written for version ${sdk} of the element SDK; this engine has ${SDK_VERSION}`,
    )
  const described = parseAs(manifest, written)
  const { entry, elements } = described
  if (!existsSync(join(folder, entry))) throw new Error(`/entry: ${entry} does not exist beside plugin.json`)
  for (const element of elements) refuseUnservable(element)
  const names = elements.map(({ name }) => name)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice) throw new Error(`/elements: ${twice} is named twice`)
  return described
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`plugin.json is no JSON: ${(cause as Error).message}`, { cause })
  }
}

/** Pixels are never read on the main thread. */
function refuseUnservable({ name, runs, needs }: ManifestElement): void {
  if (needs.includes('pixels') && runs !== 'worker')
    throw new Error(`element ${name} needs pixels, so its manifest must say "runs": "worker"`)
}
