import { apiPage } from './api.ts'
import { readDocuments } from './documents.ts'
import { elementsPage } from './elements.ts'
import { errorsPage } from './errors.ts'
import { settingsPage, settingsSchema } from './settings.ts'

/** The files of `docs/ref` by their names, made of what the services and the contract say of themselves. */
export async function reference(root: string): Promise<Record<string, string>> {
  const { engine, management } = await readDocuments()
  const earlier = 'for programs that were written for it; new ones use [revision C](engine-v3.md).'
  const pages = {
    'engine-v3.md': apiPage(engine.v3, {
      intro: 'The newest revision. How it is used: [command line](../guide/command-line.md).',
    }),
    'engine-v2.md': apiPage(engine.v2, { intro: `The second revision, ${earlier}` }),
    'engine-v1.md': apiPage(engine.v1, { intro: `The first revision, ${earlier}` }),
    'management.md': apiPage(management, {
      intro:
        'From an organization to a running channel: [guide](../guide/management.md). Every answer is `{"message", "response", "response_code"}`; below stands what `response` is.',
      answerIn: schema => schema.properties?.response ?? schema,
    }),
    'elements.md': elementsPage(root),
    'errors.md': errorsPage(),
    'settings.md': settingsPage(),
  }
  const index = Object.entries(pages).map(([file, text]) => `- [${/^# (.*)/.exec(text)![1]}](${file})`)
  const written = Object.entries({ 'README.md': `# Reference\n\n${index.join('\n')}`, ...pages })
  return {
    ...Object.fromEntries(
      written.map(([file, text]) => [file, `<!-- Written by make generate. -->\n\n${text}\n`]),
    ),
    'eyrie.schema.json': settingsSchema(),
  }
}
