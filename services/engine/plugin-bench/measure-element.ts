import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { BenchMeasurement, BenchRequest } from '@eyrie/contract/plugin-bench'
import type { Element, Log } from '@eyrie/element'
import type { Egress } from '@eyrie/kit'
import { type KnownElement, readPlugin } from '../plugin-host/known-plugin.ts'
import { createCallHandler } from '../plugin-host/sandbox/granted/call-handler.ts'
import { checkDeclared, checkView } from '../plugin-host/sandbox/granted/capability-check.ts'
import type { ProcessUsage } from '../plugin-host/sandbox/limits/process-usage.ts'
import { openSandboxedElement } from '../plugin-host/sandbox/sandboxed-element.ts'
import { quantile } from '../statistics/quantile.ts'
import { createFrames, type FrameSource } from './frame-source.ts'
import { createPictures, type Pictures } from './pictures.ts'

/** V8 compiles the code of an element while it processes its first frames, which are not measured. */
const WARM_UP_SECONDS = 2
/** Somewhat longer than the interval in which the usage of processes is measured. */
const USAGE_INTERVAL_MS = 500

/**
 * Measures what the frames of a channel cost an element, in a process with the limits of uploaded plugins. Only the
 * budget of its manifest is not enforced. Throws an `Error` with the reason if the element fails. `log` receives the
 * log of the element.
 */
export async function measureElement(
  request: BenchRequest,
  { egress, log }: { egress: Egress; log: Log },
): Promise<BenchMeasurement> {
  const known = findElement(request)
  const { manifest, entry } = known
  const { capabilities } = manifest
  const { fps, seconds } = request
  const needsPixels = manifest.needs.includes('pixels')
  const args = assertValid('args', known.checkArgs(request.args))
  const config = request.config && assertValid('config', known.checkConfig(request.config))
  const frames = await createFrames(request)
  const folder = await mkdtemp(join(tmpdir(), 'eyrie-plugin-bench-'))

  const usages: ProcessUsage[] = []
  let isolation = ''
  let pictures: Pictures | undefined
  try {
    const element = await openSandboxedElement({
      source: { entry, name: manifest.name, setup: { args, config, source: { id: 1 }, size: undefined } },
      needsPixels,
      findRing: () => pictures?.ring,
      ...(capabilities && {
        checkView: view => checkView(capabilities, view),
        checkResult: result => checkDeclared(capabilities, result),
      }),
      checkIsolation: ({ level }) => {
        isolation = level
      },
      onCall: createCallHandler({ declared: capabilities, egress, folder: join(folder, 'storage') }),
      onCost: () => {},
      onUsage: usage => usages.push(usage),
      // A crash also rejects the frame that is processed.
      onCrash: () => {},
      logFields: {},
      log,
    })
    if (needsPixels && element.view) pictures = createPictures(element.view)

    const channel = { element, frames, fps, pictures }
    const warmUpCount = Math.ceil(WARM_UP_SECONDS * fps)
    await processFrames(channel, 1, warmUpCount)
    const before = await readNextUsage(usages)
    const frameCount = Math.ceil(seconds * fps)
    const roundTrips = await processFrames(channel, warmUpCount + 1, frameCount)
    const after = await readNextUsage(usages)
    element.close?.()
    return {
      element: manifest.name,
      isolation,
      frames: frameCount,
      round_trip_p50: quantile(roundTrips, 0.5),
      round_trip_p99: quantile(roundTrips, 0.99),
      cpu_per_frame: (after.cpuMs - before.cpuMs) / frameCount,
      peak_rss_bytes: Math.max(...usages.map(({ residentBytes }) => residentBytes)),
      ...(capabilities?.budget_ms !== undefined && { budget_ms: capabilities.budget_ms }),
    }
  } finally {
    pictures?.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns the requested element of the plugin, or its only one. */
function findElement({ folder, element: name }: BenchRequest): KnownElement {
  const { elements } = readPlugin(folder, 'uploaded')
  const names = elements.map(({ manifest }) => manifest.name).join(', ')
  if (name === undefined && elements.length > 1)
    throw new Error(`the plugin has several elements: choose one with --element (${names})`)
  const element = elements.find(({ manifest }) => name === undefined || manifest.name === name)
  if (!element) throw new Error(`the plugin has no element ${name}: it has ${names}`)
  return element
}

/**
 * Returns the value, completed with the defaults of its schema. `option` is the option of the command line that
 * contains it.
 */
function assertValid(option: string, { value, problem }: ReturnType<KnownElement['checkArgs']>): unknown {
  if (problem) throw new Error(`--${option}: ${problem.pointer} ${problem.message}`)
  return value
}

/** A channel as the engine runs it: frames arrive at a fixed rate. */
interface BenchChannel {
  element: Element
  frames: FrameSource
  fps: number
  /** Undefined if the element does not read the pictures of the frames. */
  pictures: Pictures | undefined
}

/** Processes `count` frames, beginning with number `first`. Returns the time of each from sending it to its result, in ms. */
async function processFrames(
  { element, frames, fps, pictures }: BenchChannel,
  first: number,
  count: number,
): Promise<number[]> {
  const roundTrips: number[] = []
  const startedAt = performance.now()
  for (let index = 0; index < count; index += 1) {
    const dueAt = startedAt + (index * 1000) / fps
    await delay(Math.max(dueAt - performance.now(), 0))
    const frame = frames(first + index)
    pictures?.write(frame.n)
    const sentAt = performance.now()
    await element.process(frame)
    roundTrips.push(performance.now() - sentAt)
  }
  return roundTrips
}

/** Waits until the usage of the process is measured again. Throws an `Error` if the process has ended. */
async function readNextUsage(usages: readonly ProcessUsage[]): Promise<ProcessUsage> {
  const previousCount = usages.length
  await delay(USAGE_INTERVAL_MS)
  const usage = usages.at(-1)
  if (usage === undefined || usages.length === previousCount)
    throw new Error('the process of the element has ended')
  return usage
}
