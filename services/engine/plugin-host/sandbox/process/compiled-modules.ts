import { enableCompileCache } from 'node:module'

/** Loads the modules of sandboxed processes, and the SDK. The compiled code is stored in a folder when the process ends. */

const [, , cacheFolder] = process.argv
enableCompileCache(cacheFolder)
await Promise.all([
  import('@eyrie/element'),
  import('@eyrie/kit/descriptors/descriptors'),
  import('../../../frames/ring-reader.ts'),
  import('../../protocol/picture-reader.ts'),
  import('../../protocol/serve-element.ts'),
  import('./message-stream.ts'),
  import('./process-descriptors.ts'),
])
