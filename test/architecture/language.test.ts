import { describe, expect, it } from 'vitest'
import { projectFiles, read } from './sources.ts'

/** Words that native engineers do not use for these things, with what they write instead. */
const unidiomatic: [pattern: RegExp, instead: string][] = [
  [/\b(who|what|which)ever\b/, 'any, every, or the noun'],
  [/\bnobody\b/, 'no one, or the noun: no viewer, no client'],
  [/\b(thereby|wherein|whereof|thereof)\b/, 'a second sentence'],
  [/\bbesides?\b/, 'in addition to, next to, also'],
  [/\b(told|tells?) (of|by|that|to|what|who|when|where|whether)\b/, 'report, log, notify'],
  [/\bis heard\b|\bheard of\b/, 'is received, responds'],
  [
    /\b(has|have|had|is|are) gone\b|\bgone over\b/,
    'was deleted, has disconnected, no longer exists',
  ],
  [/\b(is|are|was|were) away\b/, 'is offline, is unreachable'],
  [/\b(is|are|was|were) (not |no longer )?there\b/, 'exists, is reachable, is present'],
  [/\bnot any ?more\b|\bno longer there\b/, 'no longer exists'],
  [/\bto be had\b/, 'is available'],
  [/\bto and fro\b/, 'back and forth'],
  [/\bsees to it\b/, 'ensures'],
  [/\bthose (that|who|which)\b/, 'the noun'],
  [/\bsettle[sd]?\b/, 'apply, resolve, finish'],
]

const identifiers: [pattern: RegExp, instead: string][] = [
  [/\b(MOST|FEWEST|LEAST|LONGEST)_[A-Z]\w*/, 'MAX_…, MIN_…'],
  [/\b(most|fewest|longest)[A-Z]\w*/, 'max…, min…'],
]

const files = projectFiles()
const sources = files.filter(
  file => /\.(tsx?|cc|h|py|sh)$/.test(file) && !/generated|architecture\//.test(file),
)
const documents = files.filter(file => /\.md$/.test(file) && !/THIRD-PARTY/.test(file))

/** A piece of text and the place where it stands. */
interface Passage {
  place: string
  text: string
}

/** The first group of every match. */
function findPassages(file: string, pattern: RegExp): Passage[] {
  const content = read(file)
  return [...content.matchAll(pattern)].map(match => ({
    place: `${file}:${content.slice(0, match.index).split('\n').length}`,
    text: match.slice(1).find(group => group !== undefined) ?? match[0],
  }))
}

function findOffences(passages: Passage[], rules: typeof unidiomatic): string[] {
  return passages.flatMap(({ place, text }) =>
    rules
      .filter(([pattern]) => pattern.test(text))
      .map(([pattern, instead]) => `${place}: "${pattern.exec(text)![0]}" → ${instead}`),
  )
}

const logMessages = sources
  .filter(file => /^(services|appliance|sdk)\/.*(?<!\.test)\.ts$/.test(file))
  .flatMap(file =>
    findPassages(
      file,
      /\blog\.(?:trace|debug|info|warn|error|fatal)\((?:[^()]|\([^()]*\))*?(['`](?:[^'`\\]|\\.)*['`])\s*,?\s*\)/g,
    ),
  )

describe('log messages', () => {
  it('are constant: variables are fields', () => {
    // Scripts wait for the line that ends the start, which has always carried the address.
    const isReadyLine = (text: string) => text.includes('ready: open')
    expect(logMessages.filter(({ text }) => text.includes('${') && !isReadyLine(text))).toEqual([])
  })

  it('begin with a lower-case letter unless they begin with a name', () => {
    expect(logMessages.filter(({ text }) => /^['`][A-Z][a-z]+ (?!Runtime)/.test(text))).toEqual([])
  })

  it('use the words of the field', () => {
    expect(findOffences(logMessages, unidiomatic)).toEqual([])
  })
})

describe('test titles', () => {
  const titles = sources
    .filter(file => file.endsWith('.test.ts'))
    .flatMap(file =>
      findPassages(
        file,
        /\b(?:describe|it|test)(?:\.\w+(?:\((?:[^()]|\([^()]*\))*\))?)*\(\s*(['`](?:[^'`\\]|\\.)*['`])/g,
      ),
    )

  it('use the words of the field', () => {
    expect(titles.length).toBeGreaterThan(1000)
    expect(findOffences(titles, unidiomatic)).toEqual([])
  })
})

describe('comments', () => {
  const comments = sources.flatMap(file =>
    findPassages(
      file,
      /\.(?:sh|py)$/.test(file)
        ? /^\s*#(.*)$/gm
        : /\/\*\*?([\s\S]*?)\*\/|(?<![:'"`\\])\/\/ (.*)$/gm,
    ),
  )

  it('use the words of the field', () => {
    expect(comments.length).toBeGreaterThan(1000)
    expect(findOffences(comments, unidiomatic)).toEqual([])
  })
})

describe('documents', () => {
  it('use the words of the field', () => {
    const paragraphs = documents.flatMap(file => findPassages(file, /^(.+)$/gm))
    expect(findOffences(paragraphs, unidiomatic)).toEqual([])
  })
})

describe('identifiers', () => {
  it('name bounds max and min', () => {
    const names = sources
      .filter(file => /\.(tsx?|cc|h)$/.test(file))
      .flatMap(file => findPassages(file, /\b([A-Za-z]+(?:_\w+|[A-Z]\w*))\b/g))
    expect(findOffences(names, identifiers)).toEqual([])
  })
})
