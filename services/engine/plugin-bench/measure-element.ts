import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { BenchMeasurement, BenchRequest } from '@eyrie/contract/plugin-bench'
import type { Element, Log } from '@eyrie/element'
import type { Egress } from '@eyrie/kit'
import { type KnownElement, readPlugin } from '../plugin-host/known-plugin.ts'
import type { ElementSource } from '../plugin-host/protocol/element-messages.ts'
import { createCallHandler } from '../plugin-host/sandbox/granted/call-handler.ts'
import { checkDeclared, checkView } from '../plugin-host/sandbox/granted/capability-check.ts'
import type { ProcessUsage } from '../plugin-host/sandbox/limits/process-usage.ts'
import { openSandboxedElement } from '../plugin-host/sandbox/sandboxed-element.ts'
import { quantile } from '../statistics/quantile.ts'
import { createFrames, type FrameSource } from './frame-source.ts'
import { createPictures, type Pictures } from './pictures.ts'

/**
 * V8 compiles the code of an element while it processes its first frames, which are not measured.
 */
const WARM_UP_SECONDS = 2
/** Somewhat longer than the interval in which the usage of processes is measured. */
const USAGE_INTERVAL_MS = 500

/**
 * Measures what the frames of a channel cost an element. The element runs in a process with the
 * limits of uploaded plugins, except that the budget of its manifest is not enforced. Throws an
 * `Error` with the reason if the element fails. `log` receives the log of the element.
 */
export async function measureElement(
  request: BenchRequest,
  context: { egress: Egress; log: Log },
): Promise<BenchMeasurement> {
  const known = findElement(request)
  const setup = createSetup(known, request)
  const frames = await createFrames(request)
  const folder = await mkdtemp(join(tmpdir(), 'eyrie-plugin-bench-'))
  let opened: OpenedElement | undefined
  try {
    opened = await openElement(known, setup, { ...context, folder })
    const costs = await measureCosts(opened, frames, request)
    opened.element.close?.()
    const budgetMs = known.manifest.capabilities?.budget_ms
    return {
      element: known.manifest.name,
      isolation: opened.isolation,
      ...costs,
      ...(budgetMs !== undefined && { budget_ms: budgetMs }),
    }
  } finally {
    opened?.pictures?.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns the requested element of the plugin, or its only one. */
function findElement({ folder, element: name }: BenchRequest): KnownElement {
  const { elements } = readPlugin(folder, 'uploaded')
  const names = elements.map(({ manifest }) => manifest.name).join(', ')
  if (name === undefined && elements.length > 1) {
    throw new Error(`the plugin has several elements: choose one with --element (${names})`)
  }
  const element = elements.find(({ manifest }) => name === undefined || manifest.name === name)
  if (!element) throw new Error(`the plugin has no element ${name}: it has ${names}`)
  return element
}

function createSetup(known: KnownElement, { args, config }: BenchRequest): ElementSource['setup'] {
  return {
    args: assertValid('args', known.checkArgs(args)),
    config: config && assertValid('config', known.checkConfig(config)),
    source: { id: 1 },
    size: undefined,
  }
}

/**
 * Returns the checked value of an option of the command line. It is completed with the
 * defaults of its schema.
 */
function assertValid(
  option: string,
  { value, problem }: ReturnType<KnownElement['checkArgs']>,
): unknown {
  if (problem) throw new Error(`--${option}: ${problem.pointer} ${problem.message}`)
  return value
}

/** An element that runs in a process. */
interface OpenedElement {
  element: Element
  /** The level of the boundaries around the process. */
  isolation: string
  /** The pictures of the frames; undefined if the element does not read them. */
  pictures: Pictures | undefined
  /** What the process uses, oldest first. New measurements are appended. */
  usages: readonly ProcessUsage[]
}

/** Opens an element. Its files are stored in `folder`. */
async function openElement(
  { manifest, entry }: KnownElement,
  setup: ElementSource['setup'],
  { folder, egress, log }: { folder: string; egress: Egress; log: Log },
): Promise<OpenedElement> {
  const { name, needs, capabilities } = manifest
  const needsPixels = needs.includes('pixels')
  const usages: ProcessUsage[] = []
  let isolation = ''
  let pictures: Pictures | undefined
  const element = await openSandboxedElement({
    source: { entry, name, setup },
    needsPixels,
    findRing: () => pictures?.ring,
    ...(capabilities && {
      checkView: view => checkView(capabilities, view),
      checkResult: result => checkDeclared(capabilities, result),
    }),
    // The element also runs on a machine that lacks boundaries.
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
  // The view is known only now. The ring is needed for the first frame.
  if (needsPixels && element.view) pictures = createPictures(element.view)
  return { element, isolation, pictures, usages }
}

/** Processes frames at the requested rate, first some that are not measured. */
async function measureCosts(
  opened: OpenedElement,
  frames: FrameSource,
  { fps, seconds }: BenchRequest,
) {
  const { usages } = opened
  const warmUpCount = Math.ceil(WARM_UP_SECONDS * fps)
  const frameCount = Math.ceil(seconds * fps)
  await processFrames(opened, frames, { fps, first: 1, count: warmUpCount })
  const before = await readNextUsage(usages)
  const roundTrips = await processFrames(opened, frames, {
    fps,
    first: warmUpCount + 1,
    count: frameCount,
  })
  const after = await readNextUsage(usages)
  return {
    frames: frameCount,
    round_trip_p50: quantile(roundTrips, 0.5),
    round_trip_p99: quantile(roundTrips, 0.99),
    cpu_per_frame: (after.cpuMs - before.cpuMs) / frameCount,
    peak_rss_bytes: Math.max(...usages.map(({ residentBytes }) => residentBytes)),
  }
}

/**
 * Processes `count` frames, beginning with number `first`. Returns the time from sending each frame
 * to receiving its result, in ms.
 */
async function processFrames(
  { element, pictures }: OpenedElement,
  frames: FrameSource,
  { fps, first, count }: { fps: number; first: number; count: number },
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

/**
 * Waits until the usage of the process is measured again. Throws an `Error` if the process has
 * ended.
 */
async function readNextUsage(usages: readonly ProcessUsage[]): Promise<ProcessUsage> {
  const previousCount = usages.length
  await delay(USAGE_INTERVAL_MS)
  const usage = usages.at(-1)
  if (usage === undefined || usages.length === previousCount) {
    throw new Error('the process of the element has ended')
  }
  return usage
}
