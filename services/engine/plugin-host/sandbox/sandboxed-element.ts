import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { constants, setPriority } from 'node:os'
import type { Isolation } from '@eyrie/contract/health'
import type { Log } from '@eyrie/element'
import { toIsolation } from '@eyrie/kit/launcher/isolation'
import { launch } from '@eyrie/kit/launcher/launch'
import type { ElementCall } from '../protocol/element-calls.ts'
import type { ElementSource, ToElement } from '../protocol/element-messages.ts'
import {
  DEFAULT_TIMEOUTS,
  type ElementUse,
  FORGED_ANSWER,
  type OpenedElement,
  RemoteElement,
} from '../protocol/remote-element.ts'
import { LogIntake } from './limits/log-intake.ts'
import { MemoryEvidence } from './limits/memory-evidence.ts'
import { type ProcessUsage, UsageReader } from './limits/process-usage.ts'
import { ResultLimits } from './limits/result-limits.ts'
import { TokenBucket } from './limits/token-bucket.ts'
import { UsageLimits } from './limits/usage-limits.ts'
import {
  encodeMessage,
  findKind,
  MESSAGE_KIND,
  MessageDecoder,
  type MessageKind,
} from './process/message-stream.ts'
import { INSPECTOR_SOCKET, MESSAGE_SOCKET } from './process/process-descriptors.ts'
import { createProcessCommand, createProcessPolicy } from './process-policy.ts'
import { RingSender } from './ring-sender.ts'

/**
 * An element (a step of a pipeline) that is to run in a process of its own, which can use
 * only what it is granted.
 */
export interface SandboxedElementOptions extends Omit<ElementUse, 'onCost'> {
  source: ElementSource
  /** Folder that `storeCompiledCode` has filled. */
  codeFolder?: string | undefined
  /** CPU time per frame that the manifest declares, in ms. */
  budgetMs?: number | undefined
  /** Offers the process to debuggers, which may pause it. */
  onInspectable?(socket: Socket): void
  /** Whether everything else on the machine has priority. */
  isBackground?: boolean
  /** Does what the element calls for. Rejects with the reason. */
  onCall?(call: ElementCall): Promise<unknown>
  /** Throws an `Error` if the code must not run within these boundaries. */
  checkIsolation(isolation: Isolation): void
  /** Receives the CPU time of each frame in ms, as the kernel measures it. */
  onCost(ms: number): void
  /** Receives what the process uses, five times a second. */
  onUsage?(usage: ProcessUsage): void
  /** Called once if the process crashes, hangs, or exceeds its limits. */
  onCrash(reason: string): void
  /** Added to each entry of its log. */
  logFields: object
  log: Log
}

/** Maximum lengths of what a process sends, in bytes. */
const MAX_ANSWER_BYTES = 2 ** 20
const MAX_LOG_BYTES = 8 * 2 ** 10
const MAX_CALL_BYTES = 2 * 2 ** 20
const MAX_INFER_BYTES = 4 * 2 ** 10
const MESSAGE_LIMITS = new Map<number, number>([
  [MESSAGE_KIND.answer, MAX_ANSWER_BYTES],
  [MESSAGE_KIND.log, MAX_LOG_BYTES],
  [MESSAGE_KIND.call, MAX_CALL_BYTES],
  [MESSAGE_KIND.infer, MAX_INFER_BYTES],
])

/** Pieces in which messages and output arrive: each costs the engine time, however small it is. */
const BURST_READS = 5000
const READS_PER_SECOND = 1000
/**
 * Further pieces for each request of the engine, whose answer is seldom longer. A file may be
 * analysed at thousands of frames a second.
 */
const READS_PER_REQUEST = 4
const BURST_CALLS = 200
const CALLS_PER_SECOND = 20
const TOO_MANY_CALLS = `it makes more than ${CALLS_PER_SECOND} calls per second`

/**
 * Far more than are accepted for a frame: an element that asks for so many ignores the refusals.
 */
const MAX_INFERENCES_PER_REQUEST = 200
const TOO_MANY_INFERENCES = `it asks for more than ${MAX_INFERENCES_PER_REQUEST} inferences for a frame`

const SAMPLE_INTERVAL_MS = 200

/**
 * Opens an element in a process of its own. The process can read its package, the SDK and the frame
 * rings of its channel, and can answer the engine; everything that it sends is limited in length
 * and rate, and checked before it is parsed.
 */
export async function openSandboxedElement(
  options: SandboxedElementOptions,
  timeouts = DEFAULT_TIMEOUTS,
): Promise<OpenedElement> {
  const {
    source,
    codeFolder,
    budgetMs,
    isBackground,
    onInspectable,
    checkIsolation,
    onCost,
    onUsage,
    onCrash,
    onCall,
    logFields,
    log,
    ...use
  } = options
  const rings = new RingSender()
  const processOptions = {
    entry: source.entry,
    codeFolder,
    isInspected: onInspectable !== undefined,
  }
  const command = createProcessCommand(processOptions)
  const policy = createProcessPolicy(processOptions)
  const { child, report } = launch(command, policy, {
    output: 'pipe',
    descriptors: ['pipe', rings.inherited, ...(onInspectable ? (['pipe'] as const) : [])],
  })
  rings.closeInherited()
  if (isBackground) lowerPriority(child)
  const usage = openUsage(child)

  const socket = (child.stdio as readonly unknown[])[MESSAGE_SOCKET] as Socket
  onInspectable?.((child.stdio as readonly unknown[])[INSPECTOR_SOCKET] as Socket)
  const reads = new TokenBucket(BURST_READS, READS_PER_SECOND, performance.now())
  const inferences = new TokenBucket(MAX_INFERENCES_PER_REQUEST, 0, performance.now())
  const memory = new MemoryEvidence()
  const remote = new RemoteElement({
    connection: {
      send(message) {
        reads.add(READS_PER_REQUEST)
        if (message.type === 'process') inferences.add(MAX_INFERENCES_PER_REQUEST)
        sendMessage(socket, message)
      },
      terminate: () => terminate(child),
    },
    timeouts,
    onLog: ({ level, fields, message }) => intake.write(level, fields, message),
    explain: reason => memory.explain(reason),
    onCrash,
    ...(onCall && { onCall }),
    ...(isBackground && { waitedMs: () => usage?.read()?.waitedMs ?? 0 }),
  })

  const intake = new LogIntake(log, logFields, performance.now())
  for (const stream of [socket, child.stdout!, child.stderr!]) limitReads(stream, remote, reads)
  receiveMessages(socket, remote, intake, inferences)
  for (const output of [child.stdout!, child.stderr!]) receiveOutput(output, remote, intake)
  child.stderr!.on('data', (bytes: Buffer) => memory.inspect(bytes.toString()))
  // The report says why the process failed to start.
  child.on('error', () => {})
  child.on('close', (code, signal) => remote.fail(describeExit(code, signal)))
  child.on('close', () => {
    rings.close()
    usage?.close()
  })

  try {
    const launched = await report
    if ('error' in launched) throw new Error(`its process failed to start: ${launched.error}`)
    checkIsolation(toIsolation(launched))
  } catch (error) {
    // What happens to the process now is no crash of the plugin.
    remote.close()
    terminate(child)
    throw error
  }

  let frameCount: number | undefined
  const usageLimits = new UsageLimits({ budgetMs, onCost })
  watchUsage(child, usage, remote, sample => {
    onUsage?.(sample)
    memory.sample(sample.residentBytes)
    return usageLimits.check(sample, frameCount, performance.now())
  })
  const limits = new ResultLimits(performance.now())
  const element = await remote.open(source, {
    ...use,
    findRing: view => {
      const ring = use.findRing(view)
      return ring && rings.send(ring)
    },
    checkResult: result => {
      frameCount = (frameCount ?? 0) + 1
      return limits.check(result, performance.now()) ?? use.checkResult?.(result)
    },
  })
  frameCount = 0
  return element
}

function sendMessage(socket: Socket, message: ToElement): void {
  // The end of the process is reported by its event.
  if (socket.writable) socket.write(encodeMessage(MESSAGE_KIND.request, message))
}

/** Threads that the process starts later have the same priority. */
function lowerPriority({ pid }: ChildProcess): void {
  try {
    setPriority(pid!, constants.priority.PRIORITY_LOW)
  } catch {
    // It has ended already, which is reported elsewhere.
  }
}

/** Kills the process, and others that it could have started where boundaries are missing. */
function terminate(child: ChildProcess): void {
  const { pid, exitCode, signalCode } = child
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has no group yet, or has ended.
    child.kill('SIGKILL')
  }
}

function limitReads(
  stream: NodeJS.ReadableStream,
  remote: RemoteElement,
  reads: TokenBucket,
): void {
  stream.on('data', () => {
    if (!reads.take(1, performance.now())) {
      remote.fail(`it writes more than ${READS_PER_SECOND} times per second`)
    }
  })
}

function receiveMessages(
  socket: Socket,
  remote: RemoteElement,
  intake: LogIntake,
  inferences: TokenBucket,
): void {
  const decoder = new MessageDecoder(MESSAGE_LIMITS)
  const calls = new TokenBucket(BURST_CALLS, CALLS_PER_SECOND, performance.now())
  const receive = (bytes: Buffer) => {
    for (const { kind, body } of decoder.decode(bytes)) {
      const now = performance.now()
      if (kind === MESSAGE_KIND.call && !calls.take(1, now)) throw new Error(TOO_MANY_CALLS)
      if (kind === MESSAGE_KIND.infer && !inferences.take(1, now)) {
        throw new Error(TOO_MANY_INFERENCES)
      }
      if (kind === MESSAGE_KIND.log) {
        const flood = intake.countBytes(body.length, now)
        if (flood) throw new Error(flood)
        if (!intake.countEntry(now)) continue
      }
      const message = parseJson(body)
      if (!isOfKind(message, kind)) throw new Error(FORGED_ANSWER)
      remote.receive(message)
    }
  }
  socket.on('data', bytes => {
    try {
      receive(bytes)
    } catch (error) {
      remote.fail((error as Error).message)
      socket.destroy()
    }
  })
  socket.on('error', () => {})
}

/** Whether a message of this content is sent in this kind. It has not been validated yet. */
const isOfKind = (message: unknown, kind: MessageKind) =>
  findKind((message ?? {}) as Parameters<typeof findKind>[0]) === kind

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

/** Logs what the process prints, such as `console.log` and errors of Node. */
function receiveOutput(
  output: NodeJS.ReadableStream,
  remote: RemoteElement,
  intake: LogIntake,
): void {
  output.on('data', (bytes: Buffer) => {
    const now = performance.now()
    const flood = intake.countBytes(bytes.length, now)
    if (flood) remote.fail(flood)
    else if (intake.countEntry(now)) intake.write('info', {}, bytes.toString().trimEnd())
  })
  output.on('error', () => {})
}

function describeExit(code: number | null, signal: NodeJS.Signals | null): string {
  return signal
    ? `its process was ended by ${signal}`
    : `its process has ended with exit code ${code}`
}

/** Ends the process when it exceeds its limits. `check` returns which limit a sample exceeds. */
function watchUsage(
  child: ChildProcess,
  usage: UsageReader | undefined,
  remote: RemoteElement,
  check: (sample: ProcessUsage) => string | undefined,
): void {
  if (!usage) return
  const timer = setInterval(() => {
    const sample = usage.read()
    const problem = sample && check(sample)
    if (problem) remote.fail(problem)
  }, SAMPLE_INTERVAL_MS)
  timer.unref()
  child.on('close', () => clearInterval(timer))
}

/** Returns undefined if the process has ended already. */
function openUsage({ pid }: ChildProcess): UsageReader | undefined {
  try {
    return new UsageReader(pid!)
  } catch {
    return undefined
  }
}
