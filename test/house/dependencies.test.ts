import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { importsOf, projectFiles, read } from './sources.ts'

const zod = /^zod$/
const node = /^node:/
const contract = /^@eyrie\/contract(\/|$)/
const client = /^@eyrie\/client(\/|$)/
const element = /^@eyrie\/element(\/|$)/
const sdk = /^@eyrie\/(client|contract|element|license|model-store)(\/|$)/
const kit = /^@eyrie\/kit(\/|$)/
const library = /^(?!node:|@eyrie\/|[./])/

/** What each area may import besides its own files; the first area that matches a file decides. */
const laws: { area: RegExp; may: RegExp[] }[] = [
  { area: /^sdk\/contract\//, may: [zod] },
  { area: /^sdk\/element\//, may: [zod, contract] },
  { area: /^sdk\//, may: [sdk, node, library] },
  // `node:module` loads libraries that are no ES modules; it reads nothing else.
  { area: /^plugins\//, may: [element, library, /^node:module$/] },
  { area: /^console\//, may: [contract, client, library] },
  { area: /^services\/kit\//, may: [contract, node, library] },
  { area: /^services\/media\//, may: [contract, kit, /^@eyrie\/node-gst$/, node, library] },
  { area: /^services\//, may: [sdk, kit, node, library] },
  { area: /^scene\//, may: [node, library] },
]

/** The folder that a file's relative imports may not leave. */
const home = (file: string) => /^((services|plugins|sdk)\/[^/]+|[^/]+)\//.exec(file)?.[0] ?? ''

const product = projectFiles().filter(
  file => /\.tsx?$/.test(file) && !/\.(test|fixture)\.ts$|^test\/|\.config\.ts$|generate\.ts$/.test(file),
)

describe('the dependency law', () => {
  it.each(laws)('speaks of an area that exists: $area', ({ area }) => {
    expect(product.some(file => area.test(file))).toBe(true)
  })

  it('lets every file import only what its area may', () => {
    const offences = product.flatMap(file => {
      const law = laws.find(({ area }) => area.test(file))
      if (!law) return []
      return importsOf(file)
        .filter(module => !module.startsWith('.') && !law.may.some(pattern => pattern.test(module)))
        .map(module => `${file} imports ${module}`)
    })
    expect(offences).toEqual([])
  })

  it('lets no relative import leave its service, plugin or package', () => {
    const offences = product.flatMap(file =>
      importsOf(file)
        .filter(module => module.startsWith('.') && /^(services|plugins|sdk|console)\//.test(file))
        .filter(module => !join(dirname(file), module).startsWith(home(file)))
        .map(module => `${file} imports ${module}`),
    )
    expect(offences).toEqual([])
  })

  it('lets only entry points and the kit read the environment', () => {
    const readers = product.filter(
      file =>
        /^(services|plugins|sdk)\//.test(file) &&
        /process\.env\b(?!\.\w+ = )/.test(read(file)) &&
        !/\/main\.ts$|^services\/kit\//.test(file),
    )
    expect(readers).toEqual([])
  })
  it('lets only the model store make sessions of ONNX Runtime, whose telemetry it turns off', () => {
    const makers = projectFiles().filter(
      file => file.endsWith('.ts') && /InferenceSession\.create\(/.test(read(file)),
    )
    expect(makers).toEqual(['sdk/model-store/session.ts'])
  })
})
