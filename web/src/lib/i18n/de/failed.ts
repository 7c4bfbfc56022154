/** Was hilft, wenn eine Aufgabe gescheitert ist, nach der Art des Fehlers, auf Deutsch. */
import type { Words } from '../en.ts';

export const failed: Words['failed'] = {
  title: 'Sie ist gescheitert',
  advice: {
    transient: 'Es kann von selbst vergehen: Prüfen Sie Maschine, Netz und Anbieter, und machen Sie dann weiter.',
    permanent: 'Sie wurde nicht noch einmal versucht, weil sie wieder scheitern würde: Beheben Sie, was sie sagt (Zugangsdaten, ein Kontingent, die Anfrage), und machen Sie dann weiter.',
    machine: 'Die Maschine ist weg oder kommt nicht hoch: Sehen Sie beim Anbieter nach, und machen Sie dann weiter.',
    script: 'Das Skript ist gescheitert: Berichtigen Sie es oder seine Konfiguration, und machen Sie dann weiter.',
    unknown: 'Unten steht, was sie ausgegeben hat; machen Sie weiter, wenn das behoben ist.',
  },
  exit: (code) => `Sie endete mit ${code}.`,
};
