"""Reserved words of the languages of clients, which are no identifiers in some or all places.

Contextual keywords that may be identifiers everywhere are left out, such as `value` in Kotlin, `record` in C# and `of`
in Dart.
"""

from collections.abc import Mapping

WORDS = {
    # https://docs.python.org/3/reference/lexical_analysis.html#keywords, and the soft ones.
    "Python": """
    False None True and as assert async await break class continue def del elif else except finally for from global if
    import in is lambda nonlocal not or pass raise return try while with yield
    _ case match type
    """,
    # https://tc39.es/ecma262/#sec-keywords-and-reserved-words, with those of strict code and of modules.
    "TypeScript": """
    break case catch class const continue debugger default delete do else enum export extends false finally for function
    if import in instanceof new null return super switch this throw true try typeof var void while with
    arguments await eval implements interface let package private protected public static yield
    """,
    # https://go.dev/ref/spec#Keywords
    "Go": """
    break case chan const continue default defer else fallthrough for func go goto if import interface map package range
    return select struct switch type var
    """,
    # https://docs.oracle.com/javase/specs/jls/se21/html/jls-3.html#jls-3.9, with the words that name no type.
    "Java": """
    _ abstract assert boolean break byte case catch char class const continue default do double else enum extends false
    final finally float for goto if implements import instanceof int interface long native new null package private
    protected public return short static strictfp super switch synchronized this throw throws transient true try void
    volatile while
    permits record sealed var yield
    """,
    # https://kotlinlang.org/docs/keyword-reference.html, the hard ones.
    "Kotlin": """
    as break class continue do else false for fun if in interface is null object package return super this throw true
    try typealias typeof val var when while
    """,
    # Those of declarations, of statements, of expressions and types, and names that no member may have. https://docs.swift.org/swift-book/documentation/the-swift-programming-language/lexicalstructure
    "Swift": """
    associatedtype borrowing class consuming deinit enum extension fileprivate func import init inout internal let
    nonisolated open operator precedencegroup private protocol public rethrows static struct subscript typealias var
    break case catch continue default defer do else fallthrough for guard if in repeat return switch throw where while
    Any Self as await false is nil self super throws true try
    _ Protocol Type
    """,
    # https://learn.microsoft.com/dotnet/csharp/language-reference/keywords, the first table.
    "C#": """
    abstract as base bool break byte case catch char checked class const continue decimal default delegate do double
    else enum event explicit extern false finally fixed float for foreach goto if implicit in int interface internal
    is lock long namespace new null object operator out override params private protected public readonly ref return
    sbyte sealed short sizeof stackalloc static string struct switch this throw true try typeof uint ulong unchecked
    unsafe ushort using virtual void volatile while
    """,
    # https://dart.dev/language/keywords without those that any identifier may be.
    "Dart": """
    assert await break case catch class const continue default do else enum extends false final finally for if in is new
    null rethrow return super switch this throw true try var void while with yield
    Function abstract as covariant deferred dynamic export extension external factory get implements import interface
    late library mixin operator part required set static type typedef when
    """,
    # https://doc.rust-lang.org/reference/keywords.html, the strict and the reserved ones.
    "Rust": """
    _ Self as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod
    move mut pub ref return self static struct super trait true type unsafe use where while
    abstract become box do final gen macro override priv try typeof unsized virtual yield
    """,
}

RESERVED_WORDS: Mapping[str, frozenset[str]] = {language: frozenset(words.split()) for language, words in WORDS.items()}
