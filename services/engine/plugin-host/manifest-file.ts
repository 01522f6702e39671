import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseAs } from '@eyrie/contract/parse'
import { type Manifest, type ManifestElement, manifest } from '@eyrie/contract/plugin'
import { checkSdkRange, sdkRange } from '@eyrie/contract/sdk-version'
import { z } from 'zod'

const MAX_BYTES = 256 << 10

/**
 * Reads `plugin.json`, the manifest of the plugin in `folder`. Throws an `Error` that
 * names the invalid field.
 */
export function readManifest(folder: string): Manifest {
  const path = join(folder, 'plugin.json')
  const { size } = statSync(path)
  if (size > MAX_BYTES) {
    throw new Error(`plugin.json has ${size} bytes, more than the maximum of ${MAX_BYTES}`)
  }

  const content = parseJson(readFileSync(path, 'utf8'))

  // The SDK version is checked first, because a manifest for another version may have other fields.
  const { sdk } = parseAs(z.looseObject({ sdk: sdkRange }), content)
  const problem = checkSdkRange(sdk)
  if (problem !== undefined) throw new Error(`/sdk: ${problem}`)

  const parsed = parseAs(manifest, content)
  const { entry, elements } = parsed
  if (!existsSync(join(folder, entry))) {
    throw new Error(`/entry: ${entry} does not exist next to plugin.json`)
  }
  for (const element of elements) {
    assertPixelsOffMainThread(element)
    assertFramesDeclared(element)
  }
  assertUniqueNames(elements)
  return parsed
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`plugin.json is not valid JSON: ${(cause as Error).message}`, { cause })
  }
}

function assertUniqueNames(elements: readonly ManifestElement[]): void {
  const knownNames = new Set<string>()
  for (const { name } of elements) {
    if (knownNames.has(name)) throw new Error(`/elements: the name ${name} occurs twice`)
    knownNames.add(name)
  }
}

/** Reading pixels would block the main thread. */
function assertPixelsOffMainThread({ name, runs, needs }: ManifestElement): void {
  if (needs.includes('pixels') && runs !== 'worker') {
    throw new Error(`element ${name} needs pixels, so its manifest must say "runs": "worker"`)
  }
}

/** An element that declares its capabilities declares all of them. */
function assertFramesDeclared({ name, needs, capabilities }: ManifestElement): void {
  if (capabilities && needs.includes('pixels') && !capabilities.frames) {
    throw new Error(`element ${name} needs pixels, so its capabilities must declare frames`)
  }
}
