import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findRelativeImports, productFiles, projectFiles, read, root } from './sources.ts'

const documents = projectFiles().filter(
  file => /^docs\/.*\.md$/.test(file) || file === 'README.md' || file === 'plugins/README.md',
)

/** The text outside of code blocks, whose contents are examples. */
const withoutCodeBlocks = (markdown: string) => markdown.replace(/^( *)```[\s\S]*?^\1```/gm, '')

/** Code spans that name a file or folder of the project, such as `services/media/main.ts`. */
function findPaths(markdown: string): string[] {
  const spans = withoutCodeBlocks(markdown).matchAll(/`([^`\n]+)`/g)
  return [...spans]
    .map(([, span]) => span!)
    .filter(span => /^(services|sdk|console|plugins|appliance|scene|test)\/[\w./-]*$/.test(span))
}

/** Targets of links between documents: relative, with or without an anchor. */
function findRelativeLinks(markdown: string): string[] {
  const links = withoutCodeBlocks(markdown).matchAll(/\]\(([^)\s]+)\)/g)
  return [...links].map(([, target]) => target!).filter(target => !/^[a-z]+:/i.test(target))
}

/** The anchors that GitHub generates for headings. */
function findAnchors(markdown: string): string[] {
  const seen = new Map<string, number>()
  return [...withoutCodeBlocks(markdown).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => {
    const anchor = heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    const count = seen.get(anchor) ?? 0
    seen.set(anchor, count + 1)
    return count ? `${anchor}-${count}` : anchor
  })
}

function isResolved(document: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const target = path ? join(dirname(document), path) : document
  if (!existsSync(join(root, target))) return false
  return !anchor || !target.endsWith('.md') || findAnchors(read(target)).includes(anchor)
}

describe('documents', () => {
  it.each(documents)('%s names only paths that exist', document => {
    expect(findPaths(read(document)).filter(path => !existsSync(join(root, path)))).toEqual([])
  })

  it.each(documents)('%s links only to documents and headings that exist', document => {
    expect(findRelativeLinks(read(document)).filter(link => !isResolved(document, link))).toEqual([])
  })
})

/** The folder directly below a service that contains a file, such as `services/media/live`. */
const serviceFolder = (file: string) => /^services\/(media|engine|management)\/[^/]+(?=\/)/.exec(file)?.[0]

describe('layers in the architecture document', () => {
  const rows = [...read('docs/design/architecture.md').matchAll(/^\| `(services\/\w+\/[\w-]+)` \|/gm)]
  const layers = rows.map(([, folder]) => folder!)

  it('list every folder of every service', () => {
    const folders = new Set(productFiles().flatMap(file => serviceFolder(file) ?? []))
    expect(layers.toSorted()).toEqual([...folders].toSorted())
  })

  it('are ordered from top to bottom', () => {
    const upward = productFiles().flatMap(file => {
      const layer = layers.indexOf(serviceFolder(file) ?? '')
      return findRelativeImports(file)
        .filter(target => layer > layers.indexOf(serviceFolder(target) ?? ''))
        .filter(target => serviceFolder(target) !== undefined)
        .map(target => `${file} imports ${target}`)
    })
    expect(upward).toEqual([])
  })
})
