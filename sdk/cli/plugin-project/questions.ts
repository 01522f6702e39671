import { createInterface } from 'node:readline/promises'
import { parseChoice } from '../command/command.ts'
import { isInteractive } from '../command/confirm.ts'
import type { Terminal } from '../command/terminal.ts'
import type { PluginProject } from './project-files.ts'

/** The options of the command. Each answers a question in advance. */
export interface AnswerOptions {
  language?: string | undefined
  reads?: string | undefined
  description?: string | undefined
}

type Answers = Omit<PluginProject, 'name'>

const DEFAULT_DESCRIPTIONS: Record<Answers['reads'], string> = {
  objects: 'Reports crowds of people',
  pictures: 'Reports darkness in the picture',
}

/**
 * Asks what the new plugin should be like. Questions that an option answers are not asked. Without
 * a terminal, for example in scripts, the other questions have their default answers. Throws
 * `UsageError` for an invalid answer.
 */
export async function askQuestions(options: AnswerOptions, terminal: Terminal): Promise<Answers> {
  const dialog = openDialog(terminal)
  try {
    const languageAnswer = await dialog.ask({
      question: 'Language: typescript or python?',
      option: options.language,
      defaultAnswer: 'typescript',
    })
    const language = parseChoice('language', languageAnswer.toLowerCase(), ['typescript', 'python'])

    const readsAnswer = await dialog.ask({
      question: 'What does the element read: objects or pictures?',
      option: options.reads,
      defaultAnswer: 'objects',
    })
    const reads = parseChoice('reads', readsAnswer, ['objects', 'pictures'])

    const description = await dialog.ask({
      question: 'What does it do, in one sentence?',
      option: options.description,
      defaultAnswer: DEFAULT_DESCRIPTIONS[reads],
    })
    return { language, reads, description }
  } finally {
    dialog.close()
  }
}

interface Question {
  question: string
  /** The answer in advance, if the option is set. */
  option: string | undefined
  /** The answer without a terminal, or if the user enters nothing. */
  defaultAnswer: string
}

/** Opens a dialog with the user, line by line. Without a terminal, no question is asked. */
function openDialog(terminal: Terminal) {
  const { input, out } = terminal
  const canAsk = isInteractive(terminal) && out.isTTY === true
  const reader = canAsk ? createInterface({ input: input!, terminal: false }) : undefined
  const lines = reader?.[Symbol.asyncIterator]()

  return {
    async ask({ question, option, defaultAnswer }: Question): Promise<string> {
      if (option) return option
      if (!lines) return defaultAnswer
      out.write(`${question} [${defaultAnswer}] `)
      // The value is undefined at the end of the input.
      const { value } = await lines.next()
      return String(value ?? '').trim() || defaultAnswer
    },
    close: () => reader?.close(),
  }
}
