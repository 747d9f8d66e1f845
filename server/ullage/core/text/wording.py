"""Marker words: how rules, choices, open points and changes are worded, in many languages.

The lists are data chosen by hand. They only sort sentences into sections: a sentence that no
list knows is still kept as something that the user said.
"""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache

import msgspec

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_PARTED = bytes(n if chr(n).isalnum() or chr(n) == "'" else ord(" ") for n in range(128)).ljust(256)
"""What stands between words of ASCII made spaces: six times as quick as the pattern (measured)."""


_ECHOED = 2
"""A word that the user says and the agent echoes is new all the same."""
_UNSPACED = re.compile("[\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Thai, Korean, Japanese and Chinese."""


class Markers(msgspec.Struct, frozen=True, kw_only=True):
    words: frozenset[str]
    phrases: dict[str, tuple[str, ...]]
    """Phrases by their first word, which spares most searches for them."""
    heads: frozenset[str]
    """These first words."""
    fragments: tuple[str, ...]
    """For scripts that put no spaces between words."""


class Worded(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A sentence made ready for the questions below."""

    lower: str
    words: frozenset[str]
    marked: frozenset[str]
    """Those of them that any table knows: mostly a few."""
    first: str
    is_unspaced: bool
    """Whether it holds letters of a script whose words the tables have as fragments."""


def worded(text: str) -> Worded:
    """Split a sentence into lower-case words."""
    lower = text.lower().replace("’", "'")
    words = _words(lower)
    different = frozenset(words)
    return Worded(
        lower=lower,
        words=different,
        marked=different & _MARKED,
        # French puts its negation before the verb as n'.
        first="" if not words else "n" if words[0].startswith("n'") else words[0],
        is_unspaced=not lower.isascii() and _UNSPACED.search(lower) is not None,
    )


def _words(lower: str) -> list[str]:
    if not lower.isascii():
        return _WORD.findall(lower)
    words = lower.encode("ascii").translate(_PARTED).decode("ascii").split()
    if "'" not in lower:
        return words
    return [part for word in words for part in (_WORD.findall(word) if "'" in word else (word,))]


def novelty(words: AbstractSet[str], counts: Mapping[str, int]) -> float:
    """Say from 0 to 1 how much of a sentence nobody said more than twice."""
    total = 0.0
    for word in words:
        n_said = counts.get(word, 1)
        if n_said <= _ECHOED and (len(word) > 3 or not word.isascii()):
            total += 1 / n_said
    return min(1.0, total / 3)


def rarity(words: AbstractSet[str], counts: Mapping[str, int]) -> float:
    """Say from 0 to 1 how much of a sentence stands nowhere else; drone is near 0."""
    total = 0.0
    for word in words:
        if len(word) > 3 or not word.isascii():
            total += 1 / counts.get(word, 1)
    return min(1.0, total / 3)


def markers(words: str, phrases: str = "", fragments: str = "") -> Markers:
    """Read a table: words and fragments parted by spaces, phrases by commas."""
    by_head: dict[str, tuple[str, ...]] = {}
    for phrase in filter(None, map(str.strip, phrases.split(","))):
        head = phrase.replace("-", " ").split()[0]
        by_head[head] = (*by_head.get(head, ()), phrase)
    return Markers(
        words=frozenset(words.split()),
        phrases=by_head,
        heads=frozenset(by_head),
        fragments=tuple(fragments.split()),
    )


def has_marker(sentence: Worded, table: Markers) -> bool:
    """Tell whether a sentence holds one of the table's words, phrases or fragments."""
    words, lower = sentence.marked, sentence.lower
    if not words.isdisjoint(table.words):
        return True
    if not words.isdisjoint(table.heads):
        for head in words & table.heads:
            for phrase in table.phrases[head]:
                if phrase in lower:
                    return True
    return sentence.is_unspaced and any(fragment in lower for fragment in table.fragments)


def union(*tables: Markers) -> Markers:
    """Join tables into one that is quick to say no: a phrase's first word is enough."""
    words = frozenset(word for table in tables for word in (*table.words, *table.phrases))
    fragments = tuple(fragment for table in tables for fragment in table.fragments)
    return Markers(words=words, phrases={}, heads=frozenset(), fragments=fragments)


STRONG_RULES = markers(
    # English, German, French, Spanish, Portuguese, Italian, Dutch
    "never must mustn't always don't shall forbidden prohibited mandatory ensure avoid shouldn't "
    "untouched strictly constraint constraints requirement requirements required dont disallowed "
    "niemals nie immer muss müssen müsst darf dürfen darfst verboten zwingend unbedingt pflicht "
    "jamais toujours doit doivent devez dois faut interdit interdite obligatoire impérativement "
    "nunca jamás siempre debe deben debes prohibido obligatorio evita eviten "
    "sempre deve devem deves devi devono proibido obrigatório evite mai vietato obbligatorio "
    "nooit altijd moet moeten mag verplicht verboden "
    # Polish, Czech, Russian, Ukrainian, Bulgarian, Serbian
    "nigdy zawsze musi muszą należy zabronione wolno nikdy vždy musí nesmí nesmíš zakázáno "
    "никогда всегда нельзя должен должна должно должны обязательно запрещено запрещён строго "
    "ніколи завжди повинен повинна повинні обов'язково заборонено винаги трябва забранено "
    "никада увек мора морају забрањено nikada uvek mora moraju zabranjeno uvijek "
    # Swedish, Danish, Norwegian, Finnish, Turkish, Hungarian, Romanian, Greek
    "aldrig alltid måste får aldri alltid må altid skal skall koskaan aina täytyy pitää kielletty "
    "asla kesinlikle mutlaka daima zorunlu yasak mindig soha kell tilos niciodată mereu trebuie "
    "ποτέ πάντα πρέπει απαγορεύεται "
    # Indonesian, Vietnamese, Arabic, Hebrew, Persian, Hindi
    "jangan selalu harus wajib dilarang đừng luôn phải cấm لا يجب دائما دائمًا ممنوع أبدا אסור "
    "תמיד חייב חובה לעולם هرگز همیشه باید نباید ممنوع कभी हमेशा ज़रूरी जरूरी चाहिए",
    "do not, make sure, from now on, not allowed, no new, no more than, at most, at least, "
    "may not, has to be, have to be, needs to be, keep in mind, under no circumstances, "
    "read only, leave it alone, not touch, on no account, at the most, at the very least, "
    "every time, each time, for the rest of, going forward, in your replies, in your answers, "
    "every reply, each reply, every answer, no later than, no earlier than, capped at, ab sofort, "
    "jedes mal, in deinen antworten, spätestens, chaque fois, à chaque, cada vez, ogni volta, "
    "каждый раз, "
    " auf keinen fall, "
    "nicht mehr als, höchstens, mindestens, achte darauf, achtet darauf, de ahora en adelante, "
    "por ningún motivo, no se puede, à partir de maintenant, en aucun cas, ne pas, a partire da, "
    "in nessun caso, a partir de agora, em nenhum caso, onder geen beding, pod żadnym pozorem, "
    "ни в коем, с этого момента, не менее, не более, не использу, не трога, не меня, ні в якому, "
    "không được, tidak boleh, hiçbir zaman",
    "必须 必需 不得 不要 不能 不许 禁止 务必 一定要 切勿 始终 总是 永远 严禁 請勿 请勿 不可 必須 "
    "不准 每次 今后 毎回 今後 매번 앞으로 "
    "絶対 してはいけない しないで ないでください 必ず 常に べき 厳禁 반드시 절대 항상 금지 "
    "하지 마 하지마 해야 ห้าม ต้อง อย่า เสมอ",
)
WEAK_RULES = markers(
    "only without unless except should prefer prefers preferred preference preferably maximum "
    "minimum max limit limited policy "
    "convention allowed stick cannot can't deadline budget until frozen "
    "nur ohne außer soll sollen sollte bevorzugt maximal minimal kein keine keinen nicht frist "
    "seulement uniquement sans sauf préfère maximum solo solamente sin excepto prefiero máximo "
    "apenas somente sem exceto solo soltanto senza tranne alleen zonder geen tylko bez chyba "
    "только лишь без кроме максимум минимум предпочитаю лучше тільки лише крім pouze "
    "endast utan bara kun uden sadece yalnızca csak nélkül doar fără μόνο χωρίς hanya tanpa chỉ "
    "فقط بدون רק בלי केवल बिना",
    "nobody else, no one else, nobody but, "
    "and not, but not, rather than, instead of, no longer, stay on, keep the, keep all, keep it, "
    "keep them, "
    "backwards compatible, as little as, per default, when you, whenever you, before you, "
    "after you, if you ever, answer me, wants answers, the user wants, im rahmen, wenn du, "
    "bevor du, avant de, quand tu, antes de, cuando respondas, sempre que, prima di, перед тем",
    "只 仅 不用 除非 应该 應該 最多 至少 尽量 别 避免 だけ のみ 以内 以下 まで 만 없이 เท่านั้น",
)
NO_RULE = markers(
    "fails failed failing error errors crash crashes crashed broken happens happened seems seem "
    "wondering works worked working maybe guess confused funktioniert klappt geht fehler "
    "kaputt marche fonctionne erreur funciona falla funziona errore работает ошибка падает",
    "i don't know, i don't think, i don't see, i don't understand, i don't remember, "
    "i do not know, "
    "i don't get, i don't mind, i don't care, didn't work, doesn't work, does not work, "
    "weiß nicht, ne marche pas, no funciona, не работает, не знаю",
    "报错 出错 失败 不工作 エラー 動かない 오류",
)
_ANY_RULE = union(STRONG_RULES, WEAK_RULES)
NEGATIONS = frozenset(
    "no not none nothing nobody ne non não nao не ні nie nicht kein keine keinen geen inga inte "
    "ikke ej nu n hindi لا אל मत".split()
)
CHOICES = markers(
    "decided decide decision chose chosen choose picked settled agreed approved confirmed adopted "
    "opted rationale tradeoff entschieden entscheidung gewählt beschlossen einigen nehmen "
    "décidé choisi décision optons decidido decidimos elegido elegimos decisión decidi escolhido "
    "escolhemos deciso scelto scelta besloten gekozen zdecydowano wybrano decyzja rozhodli "
    "решили решено решение выбрали выбираем выбрал вирішили обрали beslutat valt karar seçtik "
    "memutuskan quyết قررنا החלטנו",
    "we use, we are using, we're using, go with, going with, went with, "
    "we will use, we'll use, i'll use, let's use, let us use, "
    "i will use, trade-off, settle on, stick with, sticking with, in favor of, in favour of, "
    "switch to, switched to, switching to, moved to, use a, use the, wir nutzen, wir verwenden, "
    "wir bleiben, on utilise, on part sur, nous utilisons, vamos con, usaremos el, "
    "vamos usar, usiamo il, используем, будем использовать, переходим на, перешли на, "
    "instead of, rather than, statt, anstatt, au lieu de, en lugar de, en vez de, вместо",
    "决定 選擇 选择 选用 采用 採用 改用 改成 改为 "
    "定为 決定 選ん 選択 採用し にする 결정 선택 채택 ตัดสินใจ",
)
REASONS = markers(
    "because since due reason why therefore denn weil da deshalb grund parce car puisque porque ya "
    "perché poiché omdat want ponieważ bo protože потому поскольку так бо тому eftersom fordi için "
    "çünkü karena vì لأن כי क्योंकि it this that otherwise they sonst dies das",
    "so that, this way, that way",
    "因为 因為 所以 由于 なぜなら ため 때문",
)
OPEN_POINTS = markers(
    "todo todos remaining pending fixme unresolved outstanding unfinished later postpone postponed "
    "deferred tbd next offen offene ausstehend später noch restant reste pendiente pendientes "
    "falta pendente restante rimane nog осталось остаётся потом позже нужно залишилось kvar "
    "återstår kalan",
    "still need, still needs, still have to, still to do, still open, still missing, left to do, "
    "not yet, follow up, follow-up, next step, next steps, needs to be done, to be done, "
    "open question, open issue, waiting for, blocked on, needs your, noch offen, noch nicht, "
    "à faire, reste à, por hacer, a fazer, da fare, ещё не, еще не",
    "待办 尚未 还没 未完成 接下来 下一步 稍后 之后再 "
    "待定 残り まだ 未対応 次に 後で 남은 아직 다음",
)
DEFERRALS = markers(
    "todo todos later postpone postponed defer deferred tbd parked später nachher verschieben "
    "después luego depois dopo później потом позже пізніше senare sonra nanti",
    "for later, not now, park it, park that, another time, follow-up, follow up, plus tard, "
    "noch offen, next week, next sprint",
    "稍后 之后再 待办 以后 後で 나중에",
)
DONE = markers(
    "done fixed added implemented created removed updated renamed refactored wrote written passes "
    "passing passed green completed finished works resolved replaced merged deployed committed "
    "moved migrated configured installed verified deleted extracted introduced built ready "
    "erledigt behoben hinzugefügt implementiert fertig umgestellt gelöscht läuft angelegt "
    "terminé corrigé ajouté implémenté créé listo hecho añadido corregido creado feito corrigido "
    "fatto aggiunto corretto klaar gotowe dodano naprawiono готово исправлено исправил добавил "
    "добавлено сделано реализовал создал удалил обновил зроблено klart färdig tamam eklendi",
    "in place, up and running, is there now, are there now, now exists",
    "完成 已修复 修复了 添加了 已添加 实现了 已实现 "
    "更新了 通过 搞定 完了 修正しました 追加しました "
    "実装しました 완료 수정했 추가했",
)
FINDINGS = markers(
    "cause caused causes culprit turns found discovered learned lesson gotcha pitfall note beware "
    "ursache gefunden herausgefunden hinweis cause cause: causa encontré причина нашёл нашел "
    "оказалось выяснилось dead wrong workaround quirk tried",
    "root cause, turns out, turned out, it turns, the problem was, the issue was, the bug was, "
    "dead end, did not work, didn't work, does not work, doesn't work, liegt daran",
    "原因 发现 问题在于 原来 原因は 分かった 원인",
)
DEAD_ENDS = markers(
    "fruitless abandoned sackgasse verworfen impasse тупик",
    "dead end, did not work, didn't work, does not work, doesn't work, no use, gave up on, "
    "ruled out, не помогло",
    "行不通 没有用 无效 うまくいかな",
)
CHANGES = markers(
    "actually instead now change changed changing switch switched update updated correction rather "
    "replace replaced rename renamed bump bumped raise raised lower lowered increase reduce "
    "reduced new no wait moved move scratch revised jetzt doch stattdessen statt ändern ändere "
    "geändert neu lieber umstellen maintenant plutôt changer change changez désormais ahora mejor "
    "cambia cambiar cambio agora mude mudar melhor adesso invece cambia nu liever teraz zmień "
    "finalement передумали передумал nope finalmente endgültig "
    "теперь вместо поменяй измени изменить меняем заменить лучше тепер замість şimdi sekarang",
    "from now on, no longer, make it, forget that, changed my mind, change of mind, "
    "on second thought, second thoughts, ab jetzt, à la place",
    "改成 改为 改用 换成 现在 改到 變更 更改 変更 今は 代わりに 변경 이제 바꿔",
)
TOLD = union(CHOICES, OPEN_POINTS, DONE, FINDINGS)
"""What an agent's sentence must have to be anything but a remark."""
_MARKED = union(
    STRONG_RULES, WEAK_RULES, NO_RULE, CHOICES, REASONS, OPEN_POINTS, DEFERRALS, DONE, FINDINGS,
    DEAD_ENDS, CHANGES,
).words  # fmt: skip
"""The words of all tables, and those that their phrases begin with."""
INTENTIONS = (
    "let me ",
    "i'll ",
    "i will ",
    "now let ",
    "now i",
    "let's ",
    "next, i",
    "first, i",
    "looking at",
    "i'm going to",
    "i am going to",
    "sure",
    "great",
    "perfect",
    "okay",
    "got it",
    "good.",
    "ich werde ",
    "lass mich ",
    "schauen wir",
    "voyons",
    "veamos",
    "сейчас ",
    "давайте ",
    "让我",
)
_TO_AGENT = re.compile(
    r"ignore (?:all |any |the )?(?:previous|prior|above|earlier)|disregard|from now on|you must|"
    r"you should|you are now|your (?:new )?instructions|system prompt|new instructions?|"
    r"do not tell|(?:dear|attention,?) (?:ai|agent|assistant|model)|as an ai|"
    r"\b(?:ai|agent|assistant|model)s?\b[^.]{0,40}\b(?:must|should|shall|need)\b|<\s*system|"
    r"\bimportant\s*[:!]|\binstructions? (?:for|to) "
)


_EXCLUDED = re.compile(
    r"[,;] ?(?:no|not|nobody|never|kein\w{0,2}|nicht|niemand|pas de|jamais|nada de|nunca|без) \w"
)
"""How a sentence ends that says what is not wanted."""


def rule_strength(sentence: Worded) -> int:
    """Say how much a sentence reads as a rule: 2 clearly, 1 perhaps, 0 not."""
    is_bare = sentence.first not in NEGATIONS and _EXCLUDED.search(sentence.lower) is None
    if is_bare and not has_marker(sentence, _ANY_RULE):
        return 0
    if has_marker(sentence, NO_RULE):
        clear = sentence.words & {"never", "always", "niemals", "jamais", "nunca", "никогда"}
        return 2 if clear and "?" not in sentence.lower else 0
    is_question = sentence.lower.rstrip(" \"')").endswith(("?", "？", "؟"))
    if has_marker(sentence, STRONG_RULES) or _is_prohibition(sentence):
        return 0 if is_question and "please" not in sentence.words else 2
    is_weak = has_marker(sentence, WEAK_RULES) or _EXCLUDED.search(sentence.lower) is not None
    return int(not is_question and is_weak)


def reads_as_rule(text: str) -> bool:
    """Tell whether a sentence clearly reads as a rule."""
    return rule_strength(worded(text)) > 1


def is_directive(text: str) -> bool:
    """Tell whether text that nobody with authority wrote speaks to the agent or gives rules."""
    return _is_directive(text[:600].lower())


@lru_cache(maxsize=1024)
def _is_directive(lower: str) -> bool:
    return _TO_AGENT.search(lower) is not None or has_marker(worded(lower), STRONG_RULES)


def is_intention(lower: str) -> bool:
    """Tell whether a sentence only announces what the agent is about to do."""
    return lower.startswith(INTENTIONS)


def _is_prohibition(sentence: Worded) -> bool:
    rest = sentence.lower.lstrip("-*• \"'")
    is_negated = sentence.first in NEGATIONS
    return (
        is_negated
        and len(sentence.words) > 2
        and not rest.startswith((sentence.first + ",", sentence.first + "."))
    )
