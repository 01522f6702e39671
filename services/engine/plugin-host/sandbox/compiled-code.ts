import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '@eyrie/element'
import { launch } from '@eyrie/kit/launcher/launch'
import { createCompilerCommand, createCompilerPolicy } from './process-policy.ts'
import { isPython } from './python/python-process.ts'

/** Time limit for a process that compiles, on a busy machine. */
const MAX_COMPILE_MS = 60_000
/** The folder of the SDK. No plugin has such a name. */
const SDK_FOLDER = '.sdk'

/** A version of a plugin. */
interface PluginEntry {
  plugin: string
  version: string
  /** Path of its entry module. */
  entry: string
}

/** Compiled code, with which sandboxed processes start faster. Each version of a plugin has a folder that only it reads. */
export interface CompiledCode {
  /**
   * Returns the folder for a version of a plugin; undefined while none is ready. The first call for a version has its code
   * compiled. Until that is done, the folder contains the SDK only.
   */
  findFolder(plugin: PluginEntry): string | undefined
}

/** Deletes the code that an earlier engine has stored: its plugins may have been removed. */
export async function createCompiledCode(folder: string, log: Log): Promise<CompiledCode> {
  await rm(folder, { recursive: true, force: true })
  const requested = new Set<string>()
  const ready = new Set<string>()
  let last: Promise<void> = Promise.resolve()

  /** Compiles one after the other: at the start of the engine, all plugins are requested at once. */
  function request(codeFolder: string, entry?: string): void {
    if (requested.has(codeFolder)) return
    requested.add(codeFolder)
    last = last.then(async () => {
      try {
        await storeCompiledCode(codeFolder, entry)
        ready.add(codeFolder)
      } catch (error) {
        log.warn({ err: error, folder: codeFolder }, 'failed to store compiled code for plugins')
      }
    })
  }

  return {
    findFolder({ plugin, version, entry }) {
      if (isPython(entry)) return undefined
      const folders = { own: join(folder, plugin, version), sdk: join(folder, SDK_FOLDER) }
      request(folders.sdk)
      request(folders.own, entry)
      return [folders.own, folders.sdk].find(each => ready.has(each))
    },
  }
}

/**
 * Stores the compiled code of the SDK, and of the plugin with this entry module, in a folder. The process that does it runs no
 * code of the plugin. Rejects if it fails; processes compile the code themselves then.
 */
export async function storeCompiledCode(codeFolder: string, entry?: string): Promise<void> {
  mkdirSync(codeFolder, { recursive: true, mode: 0o700 })
  const { child } = launch(
    createCompilerCommand(codeFolder, entry),
    createCompilerPolicy(codeFolder, entry),
    { output: 'ignore', timeoutMs: MAX_COMPILE_MS },
  )
  const [code, signal] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the process has ended with ${signal ?? `exit code ${code}`}`)
}
