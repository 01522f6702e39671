import { createInterface } from 'node:readline/promises'
import { parseChoice } from '../command/command.ts'
import { isInteractive } from '../command/confirm.ts'
import type { Terminal } from '../command/terminal.ts'
import type { PluginProject } from './project-files.ts'

/** Answers that the options of the command contain. */
export interface GivenAnswers {
  language?: string | undefined
  reads?: string | undefined
  description?: string | undefined
}

type Answers = Omit<PluginProject, 'name'>

const DEFAULT_DESCRIPTIONS = {
  objects: 'Reports crowds of people',
  pictures: 'Reports darkness in the picture',
}

/**
 * Asks what the new plugin should be like. Options answer questions in advance. Without a
 * terminal, for example in scripts, the defaults answer the others. Throws `UsageError`
 * for an invalid answer.
 */
export async function askQuestions(given: GivenAnswers, terminal: Terminal): Promise<Answers> {
  const { input, out } = terminal
  const canAsk = isInteractive(terminal) && out.isTTY === true
  const reader = canAsk ? createInterface({ input: input!, terminal: false }) : undefined
  const lines = reader?.[Symbol.asyncIterator]()

  const ask = async (question: string, givenAnswer: string | undefined, defaultAnswer: string) => {
    if (givenAnswer) return givenAnswer
    if (!lines) return defaultAnswer
    out.write(`${question} [${defaultAnswer}] `)
    const { value } = await lines.next()
    return String(value ?? '').trim() || defaultAnswer
  }

  try {
    const languageAnswer = await ask(
      'Language: typescript or python?',
      given.language,
      'typescript',
    )
    const language = parseChoice('language', languageAnswer.toLowerCase(), ['typescript', 'python'])
    const readsAnswer = await ask(
      'What does the element read: objects or pictures?',
      given.reads,
      'objects',
    )
    const reads = parseChoice('reads', readsAnswer, ['objects', 'pictures'])
    const defaultDescription = DEFAULT_DESCRIPTIONS[reads]
    const description = await ask(
      'What does it do, in one sentence?',
      given.description,
      defaultDescription,
    )
    return { language, reads, description }
  } finally {
    reader?.close()
  }
}
