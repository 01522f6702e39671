import { enableCompileCache } from 'node:module'
import { pathToFileURL } from 'node:url'

/**
 * Loads the modules of sandboxed processes, the SDK, and those of a plugin if it is given one. Node
 * stores the compiled code, and the code without types, in a folder when the process ends. No code
 * of the plugin is run.
 */

const [, , codeFolder, entry] = process.argv
enableCompileCache(codeFolder)
// Run, because only functions that have been called are compiled.
await Promise.all([
  import('@eyrie/element'),
  import('@eyrie/kit/descriptors/descriptors'),
  import('../../../frames/ring-reader.ts'),
  import('../../protocol/picture-reader.ts'),
  import('../../protocol/serve-element.ts'),
  import('./message-stream.ts'),
  import('./process-descriptors.ts'),
])
await loadWithoutRunning(import.meta.resolve('./element-process.ts'))
await loadWithoutRunning(import.meta.resolve('./inspect-process.ts'))
const { resolveSdk } = await import('../../protocol/load-element.ts')
resolveSdk()
if (entry !== undefined) await loadWithoutRunning(pathToFileURL(entry).href)

/**
 * Loads a module and what it imports. All are loaded before the first of them is run, which throws.
 */
async function loadWithoutRunning(url: string): Promise<void> {
  const modules = ['data:text/javascript,throw 0', url]
  const code = modules.map(each => `import ${JSON.stringify(each)}`).join('\n')
  // Errors of the plugin are reported when it is run.
  await import(`data:text/javascript,${encodeURIComponent(code)}`).catch(() => {})
}
