import { createInterface } from 'node:readline/promises'
import { parseChoice } from '../command/command.ts'
import { isInteractive } from '../command/confirm.ts'
import type { Terminal } from '../command/terminal.ts'
import type { PluginProject } from './project-files.ts'

/** The answers that options have given already. */
export interface GivenAnswers {
  language?: string | undefined
  reads?: string | undefined
  description?: string | undefined
}

type Answers = Omit<PluginProject, 'name'>

const DEFAULT_DESCRIPTION = {
  objects: 'Reports crowds of people',
  pictures: 'Reports darkness in the picture',
}

/**
 * Asks what a new plugin is. Options answer in advance; without a terminal, such as in scripts, the defaults apply.
 * Throws `UsageError` for an answer that is not possible.
 */
export async function askQuestions(given: GivenAnswers, terminal: Terminal): Promise<Answers> {
  const { input, out } = terminal
  const asks = isInteractive(terminal) && out.isTTY === true
  const reader = asks ? createInterface({ input: input!, terminal: false }) : undefined
  const lines = reader?.[Symbol.asyncIterator]()
  const ask = async (question: string, preset: string | undefined, fallback: string) => {
    if (preset || !lines) return preset || fallback
    out.write(`${question} [${fallback}] `)
    const { value } = await lines.next()
    return String(value ?? '').trim() || fallback
  }

  try {
    const language = await ask('Language: typescript or python?', given.language, 'typescript')
    const chosen = parseChoice('language', language.toLowerCase(), ['typescript', 'python'])
    const answer = await ask('What does the element read: objects or pictures?', given.reads, 'objects')
    const reads = parseChoice('reads', answer, ['objects', 'pictures'])
    const preset = DEFAULT_DESCRIPTION[reads]
    const description = await ask('What does it do, in one sentence?', given.description, preset)
    return { language: chosen, reads, description }
  } finally {
    reader?.close()
  }
}
