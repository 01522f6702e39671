import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { BenchMeasurement, BenchRequest } from '@eyrie/contract/plugin-bench'
import type { ViewSpec } from '@eyrie/contract/view'
import type { Element, Log } from '@eyrie/element'
import type { Egress } from '@eyrie/kit'
import { type KnownElement, readPlugin } from '../plugin-host/known-plugin.ts'
import { createCallHandler } from '../plugin-host/sandbox/granted/call-handler.ts'
import { checkDeclared, checkView } from '../plugin-host/sandbox/granted/capability-check.ts'
import type { ProcessUsage } from '../plugin-host/sandbox/limits/process-usage.ts'
import { openSandboxedElement } from '../plugin-host/sandbox/sandboxed-element.ts'
import { findPercentile } from '../statistics/cost-samples.ts'
import { createFrames, type FrameSource } from './frame-source.ts'
import { createPictures, type Pictures } from './pictures.ts'

/** V8 compiles the code of an element while it processes its first frames. */
const WARM_UP_SECONDS = 2
/** Somewhat longer than the interval in which processes are measured. */
const USAGE_INTERVAL_MS = 500

/**
 * Measures what the frames of a channel cost an element, in the process and with the limits in which the engine runs uploaded
 * plugins. Only its budget is not enforced. Throws an `Error` with the reason if the element fails. `log` receives the log of
 * the element.
 */
export async function measureElement(
  request: BenchRequest,
  { egress, log }: { egress: Egress; log: Log },
): Promise<BenchMeasurement> {
  const { manifest, entry, checkArgs, checkConfig } = findElement(request)
  const { fps, seconds } = request
  const frames = await createFrames(request)
  const args = assertValid('args', checkArgs(request.args))
  const config = request.config && assertValid('config', checkConfig(request.config))
  const { capabilities } = manifest
  const folder = await mkdtemp(join(tmpdir(), 'eyrie-plugin-bench-'))
  const usages: ProcessUsage[] = []
  let pictures: Pictures | undefined
  let isolation = ''
  const findPictures = (view: ViewSpec) => (pictures ??= createPictures(view))
  try {
    const element = await openSandboxedElement({
      source: { entry, name: manifest.name, setup: { args, config, source: { id: 1 }, size: undefined } },
      needsPixels: manifest.needs.includes('pixels'),
      findRing: view => findPictures(view).ring,
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
      onCrash: () => {},
      logFields: {},
      log,
    })
    const { view } = element
    const channel: BenchChannel = {
      element,
      frames,
      fps,
      ...(view && manifest.needs.includes('pixels') && { paint: n => findPictures(view).write(n) }),
    }
    const warmUpFrames = Math.ceil(WARM_UP_SECONDS * fps)
    await processFrames(channel, 1, warmUpFrames)
    const before = await readNextUsage(usages)
    const count = Math.ceil(seconds * fps)
    const times = await processFrames(channel, warmUpFrames + 1, count)
    const after = await readNextUsage(usages)
    element.close?.()
    return {
      element: manifest.name,
      isolation,
      frames: count,
      round_trip_p50: findPercentile(times, 0.5),
      round_trip_p99: findPercentile(times, 0.99),
      cpu_per_frame: (after.cpuMs - before.cpuMs) / count,
      peak_rss_bytes: Math.max(...usages.map(({ residentBytes }) => residentBytes)),
      ...(capabilities?.budget_ms !== undefined && { budget_ms: capabilities.budget_ms }),
    }
  } finally {
    pictures?.close()
    await rm(folder, { recursive: true, force: true })
  }
}

function findElement({ folder, element: name }: BenchRequest): KnownElement {
  const { elements } = readPlugin(folder, 'uploaded')
  const names = elements.map(({ manifest }) => manifest.name).join(', ')
  if (name === undefined && elements.length > 1)
    throw new Error(`the plugin has several elements: choose one with --element (${names})`)
  const found = elements.find(({ manifest }) => name === undefined || manifest.name === name)
  if (!found) throw new Error(`the plugin has no element ${name}: it has ${names}`)
  return found
}

function assertValid(option: string, { value, problem }: ReturnType<KnownElement['checkArgs']>): unknown {
  if (problem) throw new Error(`--${option}: ${problem.pointer} ${problem.message}`)
  return value
}

/** A channel as the engine runs it: frames arrive at a fixed rate. */
interface BenchChannel {
  element: Element
  frames: FrameSource
  fps: number
  /** Writes the picture of a frame. */
  paint?(n: number): void
}

/** Processes frames from number `from` on. Returns how long each has taken, there and back, in ms. */
async function processFrames(
  { element, frames, fps, paint }: BenchChannel,
  from: number,
  count: number,
): Promise<number[]> {
  const times: number[] = []
  const start = performance.now()
  for (let index = 0; index < count; index += 1) {
    const due = start + (index * 1000) / fps
    await delay(Math.max(due - performance.now(), 0))
    const frame = frames(from + index)
    paint?.(frame.n)
    const sent = performance.now()
    await element.process(frame)
    times.push(performance.now() - sent)
  }
  return times
}

/** Waits until the process is measured again. Throws an `Error` if it has ended. */
async function readNextUsage(usages: readonly ProcessUsage[]): Promise<ProcessUsage> {
  const { length } = usages
  await delay(USAGE_INTERVAL_MS)
  const usage = usages.at(-1)
  if (usage === undefined || usages.length === length) throw new Error('the process of the element has ended')
  return usage
}
