import { type Diagnostic, formatDiagnostic, type Severity } from '../../base/diagnostic.ts';
import { sarifLog } from './sarif.ts';

/** What became of a directory that was looked at. */
export interface Checked {
  /** By file, then place. */
  readonly findings: readonly Diagnostic[];
  /** How many files were read. */
  readonly files: number;
  /** Warnings count as errors. */
  readonly isStrict: boolean;
}

export type ReportFormat = 'text' | 'json' | 'sarif';

/** What is printed, whole, with a line end. */
export const REPORTS: Readonly<Record<ReportFormat, (checked: Checked) => string>> = {
  text: textReport,
  json: ({ findings }) => `${JSON.stringify(findings, null, 2)}\n`,
  sarif: ({ findings }) => `${JSON.stringify(sarifLog(findings), null, 2)}\n`,
};

function textReport({ findings, files }: Checked): string {
  const counted = (severity: Severity, one: string, many = `${one}s`) => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    return `${count} ${count === 1 ? one : many}`;
  };
  const lines = findings.map((finding) => `${formatDiagnostic(finding)}\n`);
  const severities = [counted('error', 'error'), counted('warning', 'warning'), counted('info', 'info', 'infos')];
  return `${lines.join('')}${files} ${files === 1 ? 'file' : 'files'}: ${severities.join(', ')}\n`;
}
