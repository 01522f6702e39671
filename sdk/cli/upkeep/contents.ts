/** What management says of a backup. */
export interface Contents {
  made_at: string
  version: string
  tables: { name: string; rows: number }[]
  entries: Record<string, string>
}

export function summary({ tables, entries }: Contents): string {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const files = Object.keys(entries).filter(name => name.startsWith('files/')).length
  return `${rows} records and ${files} files`
}
