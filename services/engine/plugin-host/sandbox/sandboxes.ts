import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Isolation } from '@eyrie/contract/health'
import { type Capabilities, isDevelopmentVersion } from '@eyrie/contract/plugin'
import type { Log } from '@eyrie/element'
import type { Egress } from '@eyrie/kit'
import { toIsolation } from '@eyrie/kit/launcher/isolation'
import { launch } from '@eyrie/kit/launcher/launch'
import type { ElementCall } from '../protocol/element-calls.ts'
import type { ElementSource } from '../protocol/element-messages.ts'
import type { EncodedResult, InferCall } from '../protocol/infer-call.ts'
import {
  DEFAULT_TIMEOUTS,
  type ElementUse,
  MAX_INSPECTED_MS,
  type OpenedElement,
} from '../protocol/remote-element.ts'
import { createCompiledCode } from './compiled-code.ts'
import { createCallHandler } from './granted/call-handler.ts'
import { checkDeclared, checkView } from './granted/capability-check.ts'
import type { InspectorServer } from './inspector/inspector-server.ts'
import type { ProcessUsage } from './limits/process-usage.ts'
import type { PluginOnChannel, PluginQuarantine } from './plugin-quarantine.ts'
import { createProcessPolicy } from './process-policy.ts'
import { isPython } from './python/python-process.ts'
import { openSandboxedElement, type SandboxedElementOptions } from './sandboxed-element.ts'

/** Storage of versions in shadow. No plugin has such a name. */
const SHADOW_FOLDER = '.shadow'
/**
 * At the lowest priority, a frame may take long, even without the time in which it
 * waits for a processor.
 */
const SHADOW_TIMEOUTS = { ...DEFAULT_TIMEOUTS, processMs: 10_000 }
const INSPECTED_TIMEOUTS = { ...DEFAULT_TIMEOUTS, processMs: MAX_INSPECTED_MS }

/** An element of an uploaded plugin that is to run on a channel. */
export interface SandboxRequest extends Omit<ElementUse, 'onCost' | 'checkView' | 'checkResult'> {
  plugin: PluginOnChannel
  source: ElementSource
  /** The name under which the element stores its files; by default, its name. */
  label?: string
  /** What the manifest declares; undefined if it declares nothing. */
  capabilities: Capabilities | undefined
  /**
   * Called when the plugin was verified and before its process starts. An error prevents the start.
   */
  prepare?(): Promise<void>
  /** Runs a model for the element. */
  infer?(call: InferCall): Promise<EncodedResult>
  /**
   * Whether the element only shows what it would do. It runs at the lowest priority, its storage is
   * empty and is deleted, it sends no requests, and its crashes do not count.
   */
  isShadow?: boolean
  onCost(ms: number): void
  /** Receives what the process uses, five times a second. */
  onUsage?(usage: ProcessUsage): void
  log: Log
}

/** Runs the elements of uploaded plugins, each in a process of its own. */
export interface Sandboxes {
  /** The boundaries around the processes. */
  readonly isolation: Isolation
  /**
   * Returns why uploaded code must not run within these boundaries, with the remedy;
   * undefined if it may run.
   */
  findIsolationProblem(): string | undefined
  /**
   * Returns the folder with compiled code of the SDK, which makes processes start faster; undefined
   * until it is ready.
   */
  findSdkCode(): string | undefined
  /**
   * Starts a process and opens the element. Rejects with the reason if it fails, or if the
   * plugin is in quarantine.
   */
  open(request: SandboxRequest): Promise<OpenedElement>
}

export interface SandboxesOptions {
  quarantine: PluginQuarantine
  /** Whether uploaded code may run although boundaries are missing. */
  allowsPartialIsolation: boolean
  /** Folder of uploaded plugins. */
  folder: string
  /** Folder for compiled code of the SDK and the plugins. */
  codeFolder: string
  /** Folder of the files that elements store. */
  storageFolder: string
  /** Opens connections to the servers that manifests declare. */
  egress: Egress
  /**
   * Offers the processes of development versions of a plugin to debuggers; undefined if
   * no plugin is debugged.
   */
  inspector?: { plugin: string; server: InspectorServer } | undefined
  /**
   * Throws an `Error` if the files of a plugin have changed since it was installed, or
   * since it was signed.
   */
  verifyPackage(plugin: string, version: string): Promise<unknown>
  /**
   * Throws an `Error` with the remedy if the owner does not accept the publisher of a plugin.
   * Called before each frame as well, so that a plugin ends when its publisher is distrusted.
   */
  assertTrusted(plugin: string, version: string): void
  log: Log
}

/** Finds out which boundaries the machine has, and returns the sandboxes. */
export async function createSandboxes({
  quarantine,
  allowsPartialIsolation,
  folder,
  codeFolder,
  storageFolder,
  egress,
  inspector,
  verifyPackage,
  assertTrusted,
  log,
}: SandboxesOptions): Promise<Sandboxes> {
  const isolation = await probeIsolation(folder)
  const { level, missing } = isolation
  if (level !== 'full') log.warn({ level, missing }, 'uploaded plugins cannot be fully isolated')

  const findIsolationProblem = ({ level, missing }: Isolation): string | undefined =>
    level === 'full' || allowsPartialIsolation
      ? undefined
      : `uploaded code does not run here, because its isolation is ${level}: ${missing.join('; ')}. ` +
        'To run it nevertheless, set engine.allow_partial_plugin_isolation in eyrie.json to true'

  const checkIsolation = (actual: Isolation) => {
    const problem = findIsolationProblem(actual)
    if (problem !== undefined) throw new Error(problem)
  }

  const code = await createCompiledCode(codeFolder, log)

  const open: Sandboxes['open'] = async request => {
    const { plugin, source, label = source.name, prepare, isShadow = false } = request
    if (!isShadow) assertReleased(quarantine, plugin)
    checkIsolation(isolation)
    const assertAccepted = () => assertTrusted(plugin.plugin, plugin.version)
    assertAccepted()
    await verifyPackage(plugin.plugin, plugin.version)
    await prepare?.()

    const root = isShadow ? join(storageFolder, SHADOW_FOLDER) : storageFolder
    const folder = join(root, plugin.plugin, label, String(plugin.channel))
    if (isShadow) await rm(folder, { recursive: true, force: true })

    const inspectorServer = findInspector(request)
    const isInspected = inspectorServer !== undefined
    const opened = await openSandboxedElement(
      toElementOptions(request, folder, inspectorServer),
      selectTimeouts({ isShadow, isInspected }),
    )
    const element = { ...opened, isInspected }
    return whileAccepted(isShadow ? thenDelete(element, folder) : element, assertAccepted)
  }

  /** Returns the server that offers the element to debuggers; undefined if none may connect. */
  function findInspector({
    plugin,
    source,
    isShadow,
  }: SandboxRequest): InspectorServer | undefined {
    const isRequested = inspector?.plugin === plugin.plugin && isDevelopmentVersion(plugin.version)
    const canBeInspected = !isShadow && !isPython(source.entry)
    return isRequested && canBeInspected ? inspector.server : undefined
  }

  /** Returns the options of the process of an element, which stores its files in `folder`. */
  function toElementOptions(
    {
      plugin,
      source,
      capabilities,
      prepare: _,
      label: __,
      infer,
      isShadow = false,
      log,
      ...use
    }: SandboxRequest,
    folder: string,
    inspectorServer: InspectorServer | undefined,
  ): SandboxedElementOptions {
    const handleCall = createCallHandler({
      declared: capabilities,
      egress,
      ...(infer && { infer }),
      folder,
    })
    const title = `${source.name} on channel ${plugin.channel}`
    return {
      ...use,
      source,
      isBackground: isShadow,
      codeFolder: code.requestFolder({ ...plugin, entry: source.entry }),
      // A debugger takes time.
      budgetMs: inspectorServer ? undefined : capabilities?.budget_ms,
      ...(inspectorServer && {
        onInspectable: socket => inspectorServer.add({ title, entry: source.entry, socket }),
      }),
      ...(capabilities && {
        checkView: view => checkView(capabilities, view),
        checkResult: result => checkDeclared(capabilities, result),
      }),
      checkIsolation,
      onCall: isShadow ? call => handleInShadow(call, handleCall) : handleCall,
      onCrash: reason => {
        if (!isShadow) recordCrash({ plugin, element: source.name, reason, log })
      },
      logFields: {
        plugin: plugin.plugin,
        element: source.name,
        ...(isShadow && { shadow: plugin.version }),
      },
      log,
    }
  }

  function recordCrash({ plugin, element, reason, log }: Crash): void {
    const isQuarantined = quarantine.addCrash(plugin, `${element}: ${reason}`)
    const fields = { plugin: plugin.plugin, version: plugin.version }
    log.error({ ...fields, element, reason }, 'plugin crashed')
    if (isQuarantined) log.error({ ...fields, reason }, 'put plugin in quarantine')
  }

  return {
    isolation,
    findIsolationProblem: () => findIsolationProblem(isolation),
    findSdkCode: code.findSdkFolder,
    open,
  }
}

/** A crash of the process of an element. */
interface Crash {
  plugin: PluginOnChannel
  element: string
  reason: string
  log: Log
}

function selectTimeouts({ isShadow, isInspected }: { isShadow: boolean; isInspected: boolean }) {
  if (isShadow) return SHADOW_TIMEOUTS
  return isInspected ? INSPECTED_TIMEOUTS : DEFAULT_TIMEOUTS
}

/** Requests of a version in shadow would be sent twice. */
async function handleInShadow(
  call: ElementCall,
  handle: (call: ElementCall) => Promise<unknown>,
): Promise<unknown> {
  if (call.method === 'fetch') throw new Error('a version in shadow sends no requests')
  return handle(call)
}

/** Returns an element whose files are deleted when it closes. */
const thenDelete = (element: OpenedElement, folder: string): OpenedElement => ({
  ...element,
  close: () => {
    element.close?.()
    rm(folder, { recursive: true, force: true }).catch(() => {})
  },
})

/** Returns an element that closes before the first frame at which `assertAccepted` throws. */
function whileAccepted(element: OpenedElement, assertAccepted: () => void): OpenedElement {
  return {
    ...element,
    process: frame => {
      try {
        assertAccepted()
      } catch (error) {
        element.close?.()
        throw error
      }
      return element.process(frame)
    },
  }
}

function assertReleased(quarantine: PluginQuarantine, plugin: PluginOnChannel): void {
  const entry = quarantine.find(plugin)
  if (!entry) return
  throw new Error(
    `version ${entry.version} of plugin ${entry.plugin} is in quarantine: it crashed three times within a minute (${entry.reason}). To run it again: eyrie plugin release ${entry.plugin}`,
  )
}

/** Starts a process that does nothing within the boundaries of an element. */
async function probeIsolation(folder: string): Promise<Isolation> {
  const policy = createProcessPolicy({ entry: `${folder}/element.js` })
  const { report } = launch([process.execPath, '--version'], policy, {
    output: 'ignore',
    descriptors: [],
  })
  return toIsolation(await report)
}
